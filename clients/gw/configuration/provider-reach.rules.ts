import { counted } from '../terminal/words.rules.js';
import type { Reach } from './provider-reach.js';

const NOBODY = 'No application can reach it.';

/** What a change of a provider concerns. */
export function reachText(reach: Reach): string {
  return reach.count === 0 ? NOBODY : `It is reached by ${namesOf(reach)}.`;
}

/** What the removal of a provider ends. */
export function lossText(reach: Reach): string {
  return reach.count === 0 ? NOBODY : `Calls of ${namesOf(reach)} through it fail.`;
}

/** What the removal of a provider ends whose place another takes. */
export function placeText(slug: string): string {
  return `Another provider takes its place; calls that still name ${slug} fail.`;
}

function namesOf({ count, names }: Reach): string {
  const others = count - names.length;
  return [...names, ...(others > 0 ? [counted(others, 'other application')] : [])].join(', ');
}
