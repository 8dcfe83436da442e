import type { Schemas } from '../api/client';
import { countedText, countText, moneyText, shortCountText } from '../design/amounts.rules';
import { tokensOf } from '../usage/periods.rules';

type Totals = Schemas['UsageTotalsResponse'];

/** The text below a cost: estimates are shown next to it and are not part of it. */
export function costNote({ requests, blocked, cost_usd: cost, estimated_cost_usd: estimated }: Totals): string {
  if (estimated > 0) return `and ${moneyText(estimated)} estimated`;
  const sent = requests - blocked;
  return sent === 0 ? '' : `${moneyText(cost / sent)} per call sent`;
}

/** The full count below a shortened one; undefined if the figure is the full count. */
export function requestsNote({ requests }: Totals): string | undefined {
  return shortCountText(requests) === countText(requests) ? undefined : `${countText(requests)} exactly`;
}

/** The text below a sum of tokens: its two parts. */
export function tokensNote(usage: Totals): string {
  const output = usage.output_tokens;
  return `${shortCountText(tokensOf(usage) - output)} in, ${shortCountText(output)} out`;
}

/** The text below errors and refusals. */
export function failuresNote({ errors, blocked }: Totals): string {
  return `${countedText(errors, 'error')}, ${countedText(blocked, 'refusal')}`;
}
