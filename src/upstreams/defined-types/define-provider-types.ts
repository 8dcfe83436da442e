import { isDeepStrictEqual } from 'node:util';
import type { TrustedHosts } from '../../platform/outbound/trusted-hosts.rules.js';
import type { DialectFacts } from '../dialect-table.js';
import { addDialect } from '../provider-dialect.js';
import { addProviderType, isProviderType } from '../provider-types.js';
import type { ProviderTypeDefinition } from './provider-type-definition.js';
import { badDefinition, factsOfDefinition } from './provider-type-definition.rules.js';

const defined = new Map<string, DialectFacts>();

/**
 * Registers provider types of an extension for the lifetime of the process: all of them, or none when one is invalid.
 * Call it before the application is created, so that request validation and the OpenAPI document include them.
 * Registering identical facts again is allowed, for another application in the same process.
 *
 * @param trusted private hosts that calls may reach.
 * @throws Error naming the type, the member and the rule; also for a name in use.
 */
export function defineProviderTypes(definitions: readonly ProviderTypeDefinition[], trusted: TrustedHosts): void {
  const facts = new Map<string, DialectFacts>();
  for (const definition of definitions) {
    const { name } = definition;
    if (facts.has(name)) throw badDefinition(definition, 'name', 'is defined twice');
    const read = factsOfDefinition(definition, trusted);
    if (isTaken(name, read)) throw badDefinition(definition, 'name', 'is taken by another provider type');
    facts.set(name, read);
  }
  for (const [name, read] of facts) {
    if (defined.has(name)) continue;
    defined.set(name, read);
    addDialect(addProviderType(name), read);
  }
}

function isTaken(name: string, facts: DialectFacts): boolean {
  const known = defined.get(name);
  return known === undefined ? isProviderType(name) : !isDeepStrictEqual(known, facts);
}
