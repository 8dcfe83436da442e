import type { RequiredClaim } from '../app-directory/config/app-config.js';
import { type Claims, claimAt } from './claim-path.rules.js';

/**
 * Whether a token meets every requirement of the subscription check.
 *
 * `contains`: the claim is a list with the text as an element, the text itself, or text of which it is one of the words
 * between white space; of several texts one suffices. `equals`: the same value of the same type.
 *
 * Source: contract-app 3.4, "Matching".
 */
export function hasRequiredClaims(claims: Claims, required: readonly RequiredClaim[]): boolean {
  return required.every((requirement) => {
    const claim = claimAt(claims, requirement.path);
    if ('equals' in requirement) return claim === requirement.equals;
    const { contains } = requirement;
    return containsAny(claim, typeof contains === 'string' ? [contains] : contains);
  });
}

function containsAny(claim: unknown, texts: readonly string[]): boolean {
  if (Array.isArray(claim)) return texts.some((text) => claim.includes(text));
  if (typeof claim !== 'string') return false;
  const words = new Set(claim.split(/\s+/));
  return texts.some((text) => claim === text || words.has(text));
}
