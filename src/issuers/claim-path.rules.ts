/** The payload of a verified token, as parsed. */
export type Claims = Readonly<Record<string, unknown>>;

/** True of what JSON calls an object. */
export function isClaims(value: unknown): value is Claims {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The claim at a dotted path: every part names an own property of an object. An array or a scalar on the way yields
 * `undefined`, as does a name that is not there; what stands at the end may be anything.
 *
 * Source: contract-app 3.4, "Claim paths"; threats 5.2.
 */
export function claimAt(claims: Claims, path: string): unknown {
  let found: unknown = claims;
  for (const name of path.split('.')) {
    if (!isClaims(found) || !Object.hasOwn(found, name)) return undefined;
    found = found[name];
  }
  return found;
}
