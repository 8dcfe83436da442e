import type { Schemas } from '../api/client';
import { countText, moneyText, shortCountText } from '../design/amounts.rules';
import { Figure, Figures } from '../design/layout';

type Totals = Schemas['UsageTotalsResponse'];

/** The figures of a UTC month. @param period in words, such as `2026-01`. */
export function MonthFigures({ usage, period = 'this month' }: { readonly usage: Totals; readonly period?: string }) {
  const sent = usage.requests - usage.blocked;
  const perCall = sent === 0 ? undefined : usage.cost_usd / sent;
  return (
    <Figures>
      <Figure
        label={`Cost ${period === 'this month' ? '' : 'of '}${period}`}
        value={moneyText(usage.cost_usd)}
        note={
          usage.estimated_cost_usd > 0
            ? `${moneyText(usage.estimated_cost_usd)} of it estimated`
            : perCall !== undefined && `${moneyText(perCall)} a call that was sent`
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
