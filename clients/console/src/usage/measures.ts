import { countText, moneyText, shortCountText } from '../design/amounts.rules';
import type { Measure } from './periods.rules';

export const MEASURES = [
  { value: 'cost', label: 'Cost' },
  { value: 'requests', label: 'Requests' },
  { value: 'tokens', label: 'Tokens' },
  { value: 'errors', label: 'Errors' },
  { value: 'refused', label: 'Refused' },
] as const satisfies readonly { readonly value: Measure; readonly label: string }[];

/** A measure in a sentence. */
export function measureName(measure: Measure): string {
  return measure === 'refused' ? 'refused requests' : measure;
}

/** The format of an amount of a measure. */
export function measureText(measure: Measure): (value: number) => string {
  if (measure === 'cost') return moneyText;
  return measure === 'tokens' ? shortCountText : countText;
}
