import { setTimeout as pause } from 'node:timers/promises';
import type { components } from '../../console/src/api/schema.d.ts';
import { adviceOnCall } from '../api/advice.rules.js';
import { type Api, read, requireToken, unreachable } from '../api/client.js';
import { refusal } from '../api/refusal.rules.js';
import { type Session, sessionOf, urlOf } from '../api/session.js';
import type { Action } from '../program/command.js';
import { Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { facts } from '../terminal/table.js';
import { appIdOf } from './apps.js';
import { type CallTarget, callOf, endpointTarget, providerTarget, reachOf, streamedText } from './call.rules.js';

type Event = components['schemas']['UsageEventResponse'];

const PROMPT = 'Say hello.';
const DEFAULT_USER_HEADER = 'x-end-user-id';
const COST_ATTEMPTS = 20;
const COST_INTERVAL_MS = 250;

/** `gw app call`: the one command that sends inference. */
export const call: Action = async (gw) => {
  const { appKey } = gw.environment;
  if (appKey === undefined) {
    const nextAction = 'Create one with "gw app key add", and set GW_APP_KEY to it.';
    throw Failure.state('app_key_required', 'GW_APP_KEY has no key of the application.', { nextAction });
  }
  requireToken(appKey);
  if (gw.text('endpoint') !== undefined && (gw.text('provider') ?? gw.text('model')) !== undefined) {
    const nextAction = 'An endpoint determines the provider and the model: give --endpoint alone.';
    throw Failure.input('invalid_option', '--endpoint: not with --provider or --model.', { nextAction });
  }
  const session = await optionalSession(gw);
  const url = session?.url ?? urlOf(gw);
  gw.context.url = url;
  const app = session === undefined ? gw.argument(0) : await appIdOf(session.api, gw.argument(0));
  const target = await targetOf(gw, session, app);
  const ledger = session && (await tolerant(() => ledgerOf(session.api, app, appKey)));
  gw.standing = 'The call was interrupted; its output so far is recorded and charged.';
  const sent = await send(gw, new URL(`/v1/apps/${encodeURIComponent(app)}/${target.path}`, url), target, appKey);
  gw.standing = 'The call is complete; its cost was not looked up.';
  gw.soFar = () => ({ text: shown(sent, null), details: sent });
  const event = (ledger && (await tolerant(ledger))) ?? null;
  return { result: { ...sent, event }, text: shown(sent, event) };
};

function shown({ status, firstByteMs, totalMs, serverTiming }: Sent, event: Event | null): string {
  const cost = event === null ? 'unknown' : `$${event.cost_usd}${event.settled_at === null ? ' (not settled)' : ''}`;
  return facts({
    ...{ Status: status, 'First byte': `${firstByteMs} ms`, Total: `${totalMs} ms` },
    ...{ 'Server-Timing': serverTiming ?? '-', Cost: cost },
    ...(event !== null && { Tokens: `${event.input_tokens} in, ${event.output_tokens} out` }),
  });
}

type Sent = Awaited<ReturnType<typeof send>>;

/** Reading the cost never makes a call fail. */
async function tolerant<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch {
    return undefined;
  }
}

/** The login that reads configuration and cost; a call with only a key has neither. */
async function optionalSession(gw: Invocation): Promise<Session | undefined> {
  try {
    return await sessionOf(gw);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'not_logged_in') throw error;
    if (gw.text('endpoint') !== undefined) return undefined;
    const nextAction =
      'Log in: gw account login, or name an endpoint: --endpoint <slug>, and the application by its id.';
    throw Failure.state(error.code, error.message, { nextAction });
  }
}

async function targetOf(gw: Invocation, session: Session | undefined, app: string): Promise<CallTarget> {
  const prompt = gw.optionalArgument(1) ?? PROMPT;
  const user = gw.text('user');
  const [endpoint, slug, model] = [gw.text('endpoint'), gw.text('provider'), gw.text('model')];
  if (session === undefined) return endpointTarget(endpoint ?? '', prompt, user && [DEFAULT_USER_HEADER, user]);
  const { app: stored } = await read(session.api.GET('/v1/admin/apps/{app}', { params: { path: { app } } }));
  const config = stored.config as components['schemas']['AppConfig'];
  const { authentication, endpoints = {} } = config;
  if (authentication.type !== 'api_key') {
    const nextAction = 'Call it from the app on a device, or add a server application.';
    throw Failure.input('unsupported_application', 'Only a device can call this application.', { nextAction });
  }
  const header = authentication.end_user?.source === 'header' ? authentication.end_user.header : undefined;
  if (authentication.end_user?.source === 'issuer') {
    const nextAction = 'Call it from its client, which has the token of a signed-in user.';
    throw Failure.input('unsupported_application', 'Only signed-in users call this application.', { nextAction });
  }
  const identity = user === undefined ? undefined : ([header ?? DEFAULT_USER_HEADER, user] as const);
  const [first] = Object.entries(endpoints).flatMap(([name, { api_style }]) =>
    api_style === 'responses' ? [name] : [],
  );
  const named = endpoint ?? (slug === undefined && model === undefined ? first : undefined);
  if (named !== undefined) return endpointTarget(named, prompt, identity);
  const { providers } = await read(session.api.GET('/v1/admin/providers'));
  const provider = providers.find((one) =>
    slug === undefined ? one.status === 'active' && reachOf(config, one) !== undefined : one.slug === slug,
  );
  if (provider === undefined) {
    const message =
      slug === undefined ? 'The application reaches no active provider.' : `There is no provider "${slug}".`;
    throw Failure.input('provider_not_found', message, { nextAction: 'List them: gw provider list' });
  }
  const offered = session.capabilities.providers.find(({ type }) => type === provider.type);
  const reached = callOf(reachOf(config, provider), offered?.defaultPath);
  const chosen = model ?? reached.model;
  if (chosen === undefined) {
    const nextAction = 'The application allows every model of the provider: name one with --model.';
    throw Failure.input('option_required', '--model is missing.', { nextAction });
  }
  return providerTarget(provider.slug, reached.path, chosen, prompt, identity);
}

/** Sends the call and prints the response as it arrives. */
async function send(gw: Invocation, url: URL, { body, headers }: CallTarget, appKey: string) {
  const startedAt = performance.now();
  const elapsed = () => Math.round(performance.now() - startedAt);
  let response: Response;
  try {
    response = await fetch(url, {
      ...{ method: 'POST', redirect: 'manual' },
      headers: { ...headers, 'content-type': 'application/json', authorization: `Bearer ${appKey}` },
      body: JSON.stringify(body),
    });
  } catch (error) {
    throw unreachable(url.origin, error);
  }
  if (!response.ok) {
    const refused = refusal(response, await response.json().catch(() => undefined));
    throw refused.withAdvice(adviceOnCall(refused, gw.argument(0)));
  }
  let firstByteMs: number | undefined;
  let text = '';
  gw.soFar = () => ({ text: '', details: { text } });
  try {
    for await (const part of streamedText(response)) {
      firstByteMs ??= elapsed();
      text += part;
      if (!gw.isJson) gw.terminal.write(part);
    }
  } catch (error) {
    throw Failure.remote(
      'stream_cut',
      `The answer ended too early: ${error instanceof Error ? error.message : error}`,
      {
        ...{ nextAction: 'See what was recorded: gw usage tail --once', details: { text } },
      },
    );
  }
  if (!gw.isJson) gw.terminal.write('\n\n');
  return {
    ...{ status: response.status, text, serverTiming: response.headers.get('server-timing') },
    ...{ requestId: response.headers.get('x-request-id'), firstByteMs: firstByteMs ?? elapsed(), totalMs: elapsed() },
  };
}

/** @returns reads the event of the next call with this key; undefined when it is not recorded in time. */
async function ledgerOf(api: Api, app: string, appKey: string): Promise<() => Promise<Event | undefined>> {
  const events = async () => {
    const params = { path: { app }, query: { limit: 50 } };
    return (await read(api.GET('/v1/admin/apps/{app}/events', { params }))).events;
  };
  const { keys } = await read(api.GET('/v1/admin/apps/{app}/keys', { params: { path: { app } } }));
  const key = keys.find(({ key_prefix }) => appKey.startsWith(key_prefix));
  const known = new Set((await events()).map(({ id }) => id));
  return async () => {
    for (let attempt = 0; attempt < COST_ATTEMPTS; attempt++) {
      const event = (await events()).find(({ id, api_key_id }) => !known.has(id) && api_key_id === key?.id);
      if (event !== undefined) return event;
      await pause(COST_INTERVAL_MS);
    }
    return undefined;
  };
}
