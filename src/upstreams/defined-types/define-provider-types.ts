import { isDeepStrictEqual } from 'node:util';
import type { TrustedHosts } from '../../platform/outbound/trusted-hosts.rules.js';
import type { DialectFacts } from '../dialect-table.js';
import { addDialect, removeDialect } from '../provider-dialect.js';
import { addProviderType, type DefinedType, isProviderType, removeProviderType } from '../provider-types.js';
import type { ProviderTypeDefinition } from './provider-type-definition.js';
import { badDefinition, factsOfDefinition } from './provider-type-definition.rules.js';

/** A type of an extension. */
interface Defined {
  readonly type: DefinedType;
  readonly facts: DialectFacts;
  /** Services of this process that have it. */
  services: number;
}

const defined = new Map<string, Defined>();

/**
 * Registers provider types of an extension for a service of this process: all of them, or none when one is invalid.
 * Call it before the application is created, so that request validation and the OpenAPI document include them.
 * Registering identical facts again is allowed, for another service in the same process.
 *
 * @param trusted private hosts that calls may reach.
 * @returns removes those that no other service has; to be called once, when the service has stopped.
 * @throws Error naming the type, the member and the rule; also for a name in use.
 */
export function defineProviderTypes(definitions: readonly ProviderTypeDefinition[], trusted: TrustedHosts): () => void {
  const facts = new Map<string, DialectFacts>();
  for (const definition of definitions) {
    const { name } = definition;
    if (facts.has(name)) throw badDefinition(definition, 'name', 'is defined twice');
    const read = factsOfDefinition(definition, trusted);
    if (isTaken(name, read)) throw badDefinition(definition, 'name', 'is taken by another provider type');
    facts.set(name, read);
  }
  for (const [name, read] of facts) (defined.get(name) ?? add(name, read)).services++;
  return () => [...facts.keys()].forEach(release);
}

function add(name: string, facts: DialectFacts): Defined {
  const added = { type: addProviderType(name), facts, services: 0 };
  addDialect(added.type, facts);
  defined.set(name, added);
  return added;
}

function release(name: string): void {
  const known = defined.get(name);
  if (known === undefined || --known.services > 0) return;
  defined.delete(name);
  removeDialect(known.type);
  removeProviderType(known.type);
}

function isTaken(name: string, facts: DialectFacts): boolean {
  const known = defined.get(name);
  return known === undefined ? isProviderType(name) : !isDeepStrictEqual(known.facts, facts);
}
