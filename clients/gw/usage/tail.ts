import { setTimeout as pause } from 'node:timers/promises';
import type { components } from '../../console/src/api/schema.d.ts';
import { type Api, read } from '../api/client.js';
import { sessionOf } from '../api/session.js';
import { appIdOf } from '../apps/apps.js';
import type { Action } from '../program/command.js';
import { successEnvelope } from '../program/envelope.js';
import { EXIT, Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { printable } from '../terminal/terminal.js';
import { counted } from '../terminal/words.rules.js';

type UsageEvent = components['schemas']['UsageEventResponse'];
type AuthEvent = components['schemas']['AuthEventResponse'];
type Followed =
  | { readonly kind: 'usage'; readonly event: UsageEvent }
  | { readonly kind: 'auth'; readonly event: AuthEvent };

const INTERVAL_MS = 1_000;
const PAGE = 200;
const MOST_PAGES = 25;
/** Instances write their events a little out of order; those that were seen among so many are known. */
const REMEMBERED = 5_000;
const MOST_LINES = 200;

/** `gw usage tail` */
export const tail: Action = async (gw) => {
  const named = gw.required('app');
  const lines = gw.integer('lines', { min: 0, max: MOST_LINES }) ?? 10;
  const { api } = await sessionOf(gw);
  const app = await appIdOf(api, named);
  const usage = new Seen<UsageEvent>((before) => usageEvents(api, app, before));
  const auth = new Seen<AuthEvent>((before) => authEvents(api, app, before));
  let count = 0;
  const print = (events: readonly Followed[]) => {
    for (const followed of events.toSorted((one, other) =>
      one.event.created_at.localeCompare(other.event.created_at),
    )) {
      if (gw.isJson) gw.terminal.printJson(successEnvelope(gw.context, followed));
      else gw.terminal.print(lineOf(followed));
      count++;
      gw.standing = `Followed ${counted(count, 'event')}.`;
    }
  };
  gw.standing = 'Followed 0 events.';
  const past = [...tagged('usage', await usage.next()), ...tagged('auth', await auth.next())] as Followed[];
  print(
    past
      .toSorted((one, other) => one.event.created_at.localeCompare(other.event.created_at))
      .slice(past.length - lines),
  );
  while (!gw.flag('once')) {
    await pause(INTERVAL_MS);
    await tolerating(gw, async () => {
      print([...tagged('usage', await usage.next()), ...tagged('auth', await auth.next())] as Followed[]);
    });
  }
  return { result: { ended: true, events: count }, text: '' };
};

const tagged = (kind: Followed['kind'], events: readonly (UsageEvent | AuthEvent)[]) =>
  events.map((event) => ({ kind, event }));

/** A gateway that restarts does not end it. */
async function tolerating(gw: Invocation, look: () => Promise<void>): Promise<void> {
  try {
    await look();
  } catch (error) {
    if (!(error instanceof Failure) || error.exitCode !== EXIT.remote) throw error;
    if (!gw.isJson) gw.terminal.printError(`${error.message} Trying again.`);
  }
}

interface Page<T> {
  readonly events: readonly T[];
  readonly next_before_id: number | null;
}

/** The events that were not seen before. */
class Seen<T extends { readonly id: number }> {
  private known: readonly number[] | undefined;

  constructor(private readonly page: (beforeId: number | undefined) => Promise<Page<T>>) {}

  /** The first time: the newest page. */
  async next(): Promise<readonly T[]> {
    const known = new Set(this.known);
    const fresh: T[] = [];
    let before: number | undefined;
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const { events, next_before_id } = await this.page(before);
      const unseen = events.filter(({ id }) => !known.has(id));
      fresh.push(...unseen);
      if (this.known === undefined || unseen.length < events.length || next_before_id === null) break;
      before = next_before_id;
    }
    this.known = [...fresh.map(({ id }) => id), ...known].slice(0, REMEMBERED);
    return fresh;
  }
}

function usageEvents(api: Api, app: string, before: number | undefined): Promise<Page<UsageEvent>> {
  const query = { limit: PAGE, ...(before !== undefined && { before_id: before }) };
  return read(api.GET('/v1/admin/apps/{app}/events', { params: { path: { app }, query } }));
}

function authEvents(api: Api, app: string, before: number | undefined): Promise<Page<AuthEvent>> {
  const query = { limit: PAGE, ...(before !== undefined && { before_id: before }) };
  return read(api.GET('/v1/admin/apps/{app}/auth-events', { params: { path: { app }, query } }));
}

function lineOf({ kind, event }: Followed): string {
  const [time, user] = [event.created_at, event.user_id ?? '-'];
  if (kind === 'auth')
    return printable([time, 'auth', event.event, event.outcome, event.reason ?? '', user].join('  '));
  const { status, provider_slug, model, input_tokens, output_tokens, cost_usd, latency_ms } = event;
  const parts = [
    time,
    'call',
    status,
    provider_slug ?? event.provider,
    model,
    `${input_tokens}+${output_tokens} tokens`,
  ];
  return printable([...parts, `$${cost_usd}`, `${latency_ms ?? '-'} ms`, user].join('  '));
}
