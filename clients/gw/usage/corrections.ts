import type { components } from '../../console/src/api/schema.d.ts';
import { given, read } from '../api/client.js';
import { sessionOf } from '../api/session.js';
import { appIdOf } from '../apps/apps.js';
import type { Action, Outcome } from '../program/command.js';
import { Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { exactUsd } from '../terminal/amounts.rules.js';
import { facts, table } from '../terminal/table.js';
import { counted } from '../terminal/words.rules.js';

type Schemas = components['schemas'];
type Repriced = Schemas['RepriceUsageResponse'];
type Settled = Schemas['SettleEstimatesResponse'];
type Settling = Schemas['SettleEstimatesRequest'];

const MOST_USD = 10_000;

/** `gw usage reprice` */
export const reprice: Action = async (gw) => {
  const body = {
    provider: gw.required('provider') as Schemas['RepriceUsageRequest']['provider'],
    ...{ model: gw.required('model'), month: gw.required('month') },
  };
  const named = gw.required('app');
  const { api } = await sessionOf(gw);
  const params = { path: { app: await appIdOf(api, named) } };
  const send = (apply: boolean) =>
    read(api.POST('/v1/admin/apps/{app}/usage/reprice', { params, body: { ...body, apply } }));
  return corrected(gw, send, {
    ...{ textOf: repricedText, count: ({ matched_events }) => matched_events },
    check: ({ unpriced_events: unpriced }) => {
      if (unpriced === 0) return;
      const nextAction = 'Give the model a price: gw provider update <provider> --pricing … See them with --dry-run.';
      const are = `${counted(unpriced, 'event')} ${unpriced === 1 ? 'has' : 'have'}`;
      throw Failure.input('pricing_not_configured', `${are} no price. ${gw.standing}`, { nextAction });
    },
  });
};

/** `gw usage settle` */
export const settle: Action = async (gw) => {
  const body = { month: gw.required('month'), cost: costOf(gw), ...filterOf(gw) };
  const named = gw.required('app');
  const { api } = await sessionOf(gw);
  const params = { path: { app: await appIdOf(api, named) } };
  const send = (apply: boolean) =>
    read(api.POST('/v1/admin/apps/{app}/usage/settle-estimates', { params, body: { ...body, apply } }));
  return corrected(gw, send, {
    textOf: (result) => settledText(result, gw.terminal.columns),
    count: ({ matched_events }) => matched_events,
  });
};

/** The texts of one kind of correction. */
interface Correction<T> {
  textOf(result: T): string;
  /** Events that it changes. */
  count(result: T): number;
  /** @throws Failure the preview shows that it would be refused. */
  readonly check?: (preview: T) => void;
}

/**
 * Shows the preview of a correction, asks, and applies it. With `--dry-run`, or without events, it ends with the
 * preview.
 */
async function corrected<T extends object>(
  gw: Invocation,
  send: (apply: boolean) => Promise<T>,
  { textOf, count, check }: Correction<T>,
): Promise<Outcome> {
  const preview = await send(false);
  const events = counted(count(preview), 'event');
  if (gw.flag('dryRun')) return { result: preview, text: `${textOf(preview)}\n\nNothing was changed.` };
  check?.(preview);
  if (count(preview) === 0) return { result: preview, text: 'No event matches. Nothing was changed.' };
  if (gw.mayAsk && !gw.flag('yes')) gw.terminal.printError(textOf(preview));
  await gw.confirm(`Write the new costs of ${events}?`);
  const result = await send(true);
  return { result, text: `${textOf(result)}\n\nWritten: ${counted(count(result), 'event')}.` };
}

function repricedText(result: Repriced): string {
  return facts({
    ...{ Application: result.app_id, Provider: result.provider, Model: result.model, Month: result.month },
    ...{ Events: result.matched_events, 'Without usage': result.unmetered_events },
    'Without a price': `${result.unpriced_events} (${exactUsd(result.unpriced_cost_usd)})`,
    ...{ 'Cost before': exactUsd(result.previous_cost_usd), 'Cost after': exactUsd(result.recalculated_cost_usd) },
    Difference: exactUsd(result.delta_usd),
  });
}

function settledText(result: Settled, columns: number | undefined): string {
  const told = facts({
    ...{ Application: result.app_id, Month: result.month, Events: result.matched_events },
    ...{ 'Cost before': exactUsd(result.previous_cost_usd), 'Cost after': exactUsd(result.settled_cost_usd) },
    'Estimate before': exactUsd(result.previous_estimated_cost_usd),
    'Estimate after': exactUsd(result.settled_estimated_cost_usd),
    'Difference in budgets': exactUsd(result.delta_usd),
  });
  const rows = result.sample.map((event) => [
    ...[event.id, event.model, event.status, exactUsd(event.previous_estimated_cost_usd), exactUsd(event.cost_usd)],
  ]);
  const headings = ['EVENT', 'MODEL', 'STATUS', 'ESTIMATE', 'COST AFTER'];
  const sample = rows.length === 0 ? '' : `\n\n${table(headings, rows, columns)}`;
  const more = result.has_more ? '\n\nThese are the oldest; more match. Repeat the command for the rest.' : '';
  return `${told}${sample}${more}`;
}

/** @throws Failure if it is not a cost. */
function costOf(gw: Invocation): Settling['cost'] {
  const text = gw.required('cost');
  if (text === 'zero' || text === 'estimate') return text;
  if (/^\d+(?:\.\d{1,9})?$/.test(text) && Number(text) <= MOST_USD) return { usd: Number(text) };
  throw Failure.input('invalid_option', `--cost: must be zero, estimate, or US dollars up to ${MOST_USD}.`);
}

function filterOf(gw: Invocation): Pick<Settling, 'filter'> {
  const filter = given({
    ...{ provider: gw.text('provider'), model: gw.text('model'), status: gw.text('status') },
    event_ids: gw.texts('event'),
  }) as Settling['filter'] & {};
  return Object.keys(filter).length === 0 ? {} : { filter };
}
