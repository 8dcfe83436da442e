import type { Schemas } from '../api/client';
import { moneyText, shortCountText } from '../design/amounts.rules';
import { Figure, Figures } from '../design/layout';
import { tokensOf } from '../usage/periods.rules';
import { costNote, failuresNote, requestsNote, tokensNote } from './month-figures.rules';

type Totals = Schemas['UsageTotalsResponse'];

/** The figures of a UTC month. @param period in words, such as `2026-01`. */
export function MonthFigures({ usage, period = 'this month' }: { readonly usage: Totals; readonly period?: string }) {
  const { requests, errors, blocked } = usage;
  return (
    <Figures>
      <Figure
        label={`Cost ${period === 'this month' ? '' : 'of '}${period}`}
        value={moneyText(usage.cost_usd)}
        note={costNote(usage)}
      />
      <Figure label="Requests" value={shortCountText(requests)} note={requestsNote(usage)} />
      <Figure label="Tokens" value={shortCountText(tokensOf(usage))} note={tokensNote(usage)} />
      <Figure label="Errors and refusals" value={shortCountText(errors + blocked)} note={failuresNote(usage)} />
    </Figures>
  );
}
