import { setTimeout as pause } from 'node:timers/promises';
import { type Api, read } from '../api/client.js';
import { sessionOf } from '../api/session.js';
import { appIdOf } from '../apps/apps.js';
import type { Action, Outcome } from '../program/command.js';
import { successEnvelope } from '../program/envelope.js';
import { EXIT, Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { toSecond } from '../terminal/amounts.rules.js';
import { printable } from '../terminal/terminal.js';
import { counted } from '../terminal/words.rules.js';
import { CALL_STATUSES } from './call-statuses.js';
import { Feed, type Followed } from './feed.js';

const INTERVAL_MS = 1_000;
/** Of all applications: each poll reads their list. */
const ACCOUNT_INTERVAL_MS = 2_000;
const MOST_LINES = 200;

/** `gw usage tail` */
export const tail: Action = (gw) => follow(gw, !['status', 'model', 'provider', 'key'].some((name) => gw.text(name)));

/** `gw logs` */
export const logs: Action = (gw) => follow(gw, false);

/** Prints events as they are recorded. @param hasSignIns whether authentication events are among them. */
async function follow(gw: Invocation, hasSignIns: boolean): Promise<Outcome> {
  const lines = gw.integer('lines', { min: 0, max: MOST_LINES }) ?? 10;
  const { api } = await sessionOf(gw);
  const named = gw.text('app');
  const app = named === undefined ? undefined : { id: await appIdOf(api, named), handle: named };
  const filter = {
    ...{ app, hasSignIns, status: gw.choice('status', CALL_STATUSES) },
    ...{ model: gw.text('model'), user: gw.text('user'), provider: gw.text('provider') },
    key: await keyIdOf(api, app?.id, gw.text('key')),
  };
  const feed = new Feed(api, filter, lines);
  let count = 0;
  const print = (events: readonly Followed[]) => {
    for (const { app: from, kind, event } of events) {
      if (gw.isJson) gw.terminal.printJson(successEnvelope(gw.context, { kind, app_id: from.id, event }));
      else gw.terminal.print(lineOf({ app: from, kind, event } as Followed, named === undefined));
      count++;
    }
    gw.standing = `Followed ${counted(count, 'event')}.`;
  };
  print(await feed.next());
  while (!gw.flag('once')) {
    await pause(app === undefined ? ACCOUNT_INTERVAL_MS : INTERVAL_MS);
    await tolerating(gw, async () => print(await feed.next()));
  }
  const none = count === 0 && !gw.isJson && { note: 'No event matches. Send a call: gw app call <app>' };
  return { result: { ended: true, events: count }, text: '', ...none };
}

/** The id of a key given by id or, within one application, by name. @throws Failure not found. */
async function keyIdOf(api: Api, app: string | undefined, named: string | undefined): Promise<string | undefined> {
  if (app === undefined || named === undefined) return named;
  const { keys } = await read(api.GET('/v1/admin/apps/{app}/keys', { params: { path: { app } } }));
  const key = keys.find(({ id }) => id === named) ?? keys.find(({ name }) => name === named);
  if (key !== undefined) return key.id;
  throw Failure.input('not_found', `There is no key "${named}".`, { nextAction: `See them: gw app key list ${app}` });
}

/** A restart of the gateway does not end it. */
async function tolerating(gw: Invocation, look: () => Promise<void>): Promise<void> {
  try {
    await look();
  } catch (error) {
    if (!(error instanceof Failure) || error.exitCode !== EXIT.remote) throw error;
    if (!gw.isJson) gw.terminal.printError(`${error.message} Trying again.`);
  }
}

function lineOf({ app, kind, event }: Followed, namesApp: boolean): string {
  const [time, user] = [toSecond(event.created_at), event.user_id ?? '-'];
  const begun = [time, ...(namesApp ? [app.handle] : [])];
  if (kind === 'auth')
    return printable([...begun, 'auth', event.event, event.outcome, event.reason ?? '', user].join('  '));
  const { status, provider_slug, model, input_tokens, output_tokens, cost_usd, latency_ms, refusal } = event;
  const parts = [
    ...[...begun, 'call', status, provider_slug ?? event.provider, model],
    ...[`${input_tokens}+${output_tokens} tokens`, `$${cost_usd}`, `${latency_ms ?? '-'} ms`, user],
    ...(refusal === null ? [] : [refusal.message]),
  ];
  return printable(parts.join('  '));
}
