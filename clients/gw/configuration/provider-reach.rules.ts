import { counted } from '../terminal/words.rules.js';
import type { Reach } from './provider-reach.js';

const NOBODY = 'No application can reach it.';

/** The applications affected by a change of a provider. */
export function reachText(reach: Reach): string {
  return reach.count === 0 ? NOBODY : `It is reached by ${namesOf(reach)}.`;
}

/** What stops working when a provider is removed. */
export function lossText(reach: Reach): string {
  return reach.count === 0 ? NOBODY : `Calls of ${namesOf(reach)} through it fail.`;
}

/** What stops working when a provider is replaced by another. */
export function placeText(slug: string): string {
  return `Another provider replaces it; calls that still name ${slug} fail.`;
}

function namesOf({ count, names }: Reach): string {
  const others = count - names.length;
  return [...names, ...(others > 0 ? [counted(others, 'other application')] : [])].join(', ');
}
