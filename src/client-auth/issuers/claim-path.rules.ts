import type { ClaimPath, RequiredClaim } from '../../app-directory/config/issuer-config.js';
import { isJsonObject } from '../../common/json-object.js';

/** The parsed payload of a verified token. */
export type Claims = Readonly<Record<string, unknown>>;

/** The names of a claim path. */
function namesOf(path: ClaimPath): readonly string[] {
  return typeof path === 'string' ? path.split('.') : path;
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
    if (!isJsonObject(found) || !Object.hasOwn(found, name)) return undefined;
    found = found[name];
  }
  return found;
}

/**
 * Whether a token meets every requirement of the subscription check.
 *
 * `contains`: the claim is a list with the text as an element, or a text that equals it or has it as a
 * whitespace-separated word; of several texts one suffices. `equals`: the same value of the same type.
 *
 * Source: docs/reference/application-api.md#identity-tokens.
 */
export function hasRequiredClaims(claims: Claims, required: readonly RequiredClaim[]): boolean {
  const contents = new Map<string, ReadonlySet<unknown>>();
  return required.every((requirement) => {
    const { path } = requirement;
    if ('equals' in requirement) return claimAt(claims, path) === requirement.equals;
    // Parsed once per path, because a configuration may name the same claim a thousand times.
    const key = JSON.stringify(namesOf(path));
    const content = contents.get(key) ?? contentOf(claimAt(claims, path));
    contents.set(key, content);
    const { contains } = requirement;
    return typeof contains === 'string' ? content.has(contains) : contains.some((text) => content.has(text));
  });
}

function contentOf(claim: unknown): ReadonlySet<unknown> {
  if (Array.isArray(claim)) return new Set(claim);
  return typeof claim === 'string' ? new Set([claim, ...claim.split(/\s+/)]) : new Set();
}
