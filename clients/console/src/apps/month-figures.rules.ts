import type { Schemas } from '../api/client';
import { countedText, moneyText, shortCountText } from '../design/amounts.rules';
import { tokensOf } from '../usage/periods.rules';

type Totals = Schemas['UsageTotalsResponse'];

/** What stands below a cost: estimates stand beside it, and are no part of it. */
export function costNote({ requests, blocked, cost_usd: cost, estimated_cost_usd: estimated }: Totals): string {
  if (estimated > 0) return `and ${moneyText(estimated)} estimated`;
  const sent = requests - blocked;
  return sent === 0 ? '' : `${moneyText(cost / sent)} per call sent`;
}

/** What stands below a sum of tokens: its two parts. */
export function tokensNote(usage: Totals): string {
  const output = usage.output_tokens;
  return `${shortCountText(tokensOf(usage) - output)} in, ${shortCountText(output)} out`;
}

/** What stands below errors and refusals. */
export function failuresNote({ errors, blocked }: Totals): string {
  return `${countedText(errors, 'error')}, ${countedText(blocked, 'refusal')}`;
}
