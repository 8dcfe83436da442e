import type { RequiredClaim } from '../app-directory/config/app-config.js';
import { type Claims, claimAt, namesOf } from './claim-path.rules.js';

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
