import type { Schemas } from '../api/client';
import { countText, moneyText, shortCountText } from '../design/amounts.rules';
import { Figure, Figures } from '../design/layout';

type Totals = Schemas['UsageTotalsResponse'];

/** Sums usage totals of several applications. */
export function sumOf(totals: readonly Totals[]): Totals {
  const sum = {
    ...{ requests: 0, input_tokens: 0, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 0 },
    ...{ cost_usd: 0, estimated_cost_usd: 0, errors: 0, blocked: 0 },
  };
  for (const own of totals) {
    sum.requests += own.requests;
    sum.input_tokens += own.input_tokens;
    sum.cached_input_tokens += own.cached_input_tokens;
    sum.cache_write_tokens += own.cache_write_tokens;
    sum.output_tokens += own.output_tokens;
    sum.cost_usd += own.cost_usd;
    sum.estimated_cost_usd += own.estimated_cost_usd;
    sum.errors += own.errors;
    sum.blocked += own.blocked;
  }
  return sum;
}

/** The figures of a UTC month. */
export function MonthFigures({ usage }: { readonly usage: Totals }) {
  const perRequest = usage.requests === 0 ? undefined : usage.cost_usd / usage.requests;
  return (
    <Figures>
      <Figure
        label="Cost this month"
        value={moneyText(usage.cost_usd)}
        note={
          usage.estimated_cost_usd > 0
            ? `${moneyText(usage.estimated_cost_usd)} of it estimated`
            : perRequest !== undefined && `${moneyText(perRequest)} a request`
        }
      />
      <Figure label="Requests" value={shortCountText(usage.requests)} note={`${countText(usage.requests)} in all`} />
      <Figure
        label="Tokens"
        value={shortCountText(usage.input_tokens + usage.output_tokens)}
        note={`${shortCountText(usage.input_tokens)} in, ${shortCountText(usage.output_tokens)} out`}
      />
      <Figure
        label="Errors and refusals"
        value={shortCountText(usage.errors + usage.blocked)}
        note={`${countText(usage.errors)} errors, ${countText(usage.blocked)} refused`}
      />
    </Figures>
  );
}
