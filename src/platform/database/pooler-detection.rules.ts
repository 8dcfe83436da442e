/** Process ids of the Postgres backends that answered one connection, in order. */
type Backends = readonly number[];

/**
 * Whether two connections that are open at the same time each have their own backend. Behind a pooler that hands
 * out a backend for a transaction or a statement, they share one, or change it.
 */
export function haveSessions(one: Backends, other: Backends): boolean {
  return new Set(one).size === 1 && new Set(other).size === 1 && one[0] !== other[0];
}
