import type { ClaimPath } from '../app-directory/config/app-config.js';

/** The payload of a verified token, as parsed. */
export type Claims = Readonly<Record<string, unknown>>;

/** The names on the way to a claim. */
export function namesOf(path: ClaimPath): readonly string[] {
  return typeof path === 'string' ? path.split('.') : path;
}

/** True of what JSON calls an object. */
export function isClaims(value: unknown): value is Claims {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The claim at a path: every name is an own property of an object. An array or a scalar on the way yields `undefined`, as
 * does a name that is not there; what stands at the end may be anything.
 *
 * @param path dotted, or a list of names, which may hold dots themselves, as names of claims that are URLs do.
 */
export function claimAt(claims: Claims, path: ClaimPath): unknown {
  let found: unknown = claims;
  for (const name of namesOf(path)) {
    if (!isClaims(found) || !Object.hasOwn(found, name)) return undefined;
    found = found[name];
  }
  return found;
}
