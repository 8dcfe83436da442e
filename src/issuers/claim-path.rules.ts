import type { ClaimPath } from '../app-directory/config/app-config.js';

/** The parsed payload of a verified token. */
export type Claims = Readonly<Record<string, unknown>>;

/** The names of a claim path. */
export function namesOf(path: ClaimPath): readonly string[] {
  return typeof path === 'string' ? path.split('.') : path;
}

/** Whether a value is a JSON object. */
export function isClaims(value: unknown): value is Claims {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The claim at a path: every name is an own property of an object. An array or a scalar on the path, or a missing name,
 * yields `undefined`. The last value may have any type.
 *
 * @param path dotted, or a list of names, which may contain dots, such as URLs.
 */
export function claimAt(claims: Claims, path: ClaimPath): unknown {
  let found: unknown = claims;
  for (const name of namesOf(path)) {
    if (!isClaims(found) || !Object.hasOwn(found, name)) return undefined;
    found = found[name];
  }
  return found;
}
