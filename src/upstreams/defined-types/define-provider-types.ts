import { isDeepStrictEqual } from 'node:util';
import type { TrustedHosts } from '../../platform/outbound/trusted-hosts.rules.js';
import type { DialectFacts } from '../dialect-table.js';
import { addDialect } from '../provider-dialect.js';
import { addProviderType, isProviderType } from '../provider-types.js';
import type { ProviderTypeDefinition } from './provider-type-definition.js';
import { badDefinition, factsOfDefinition } from './provider-type-definition.rules.js';

const defined = new Map<string, DialectFacts>();

/**
 * Makes types of an extension known to this process, for good, as our own are: all of them or, when one is wrong, none.
 * To be called before an application is made: its requests and its document then know them. The same facts may come
 * again, for another service in the same process.
 *
 * @param trusted the private hosts that calls may reach.
 * @throws Error naming the type, the member and the rule; also for a name that is taken.
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
