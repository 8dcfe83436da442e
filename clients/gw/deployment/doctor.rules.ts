import type { Deployment } from '../api/session.js';
import { instantMsOf } from '../program/environment.js';
import type { Colour } from '../terminal/terminal.js';

/** What was looked at, and what to do about it. */
export interface Check {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'failed' | 'unknown';
  readonly detail: string;
  readonly nextAction: string | null;
}

const COLOURS: Readonly<Record<string, Colour>> = { ok: 'green', warning: 'yellow', failed: 'red' };

/** Lines of a table of checks are coloured by their state, which comes first. */
export const checkColour = (line: string): Colour | undefined => COLOURS[line.split(' ', 1)[0] ?? ''];

const MOST_SKEW_MS = 30_000;
/** `GET /v1/cli/stream` sends its parts over half a second; through a proxy that buffers they come at once. */
const LEAST_SPREAD_MS = 250;

const ok = (check: string, detail: string): Check => ({ check, state: 'ok', detail, nextAction: null });

/** Address, versions and settings that clients depend on. @param version of this program. */
export function settingsChecks({ url, capabilities }: Deployment, version: string): readonly Check[] {
  const { serverVersion, deployment, features } = capabilities;
  const isSecure = url.startsWith('https:');
  return [
    isSecure
      ? ok('address', url)
      : warning('address', `${url} carries keys unencrypted.`, 'Put TLS before it, unless it is on this machine.'),
    serverVersion === version
      ? ok('version', serverVersion)
      : warning(
          'version',
          `The gateway is ${serverVersion}, gw is ${version}.`,
          'Use the gw of the gateway’s version.',
        ),
    deployment.apiUrl === url
      ? ok('public address', deployment.apiUrl)
      : warning(
          'public address',
          `The public URL of the gateway is ${deployment.apiUrl}.`,
          `Set PUBLIC_URL to ${url}, if clients use that.`,
        ),
    features.browserLogin
      ? ok('browser login', 'enabled')
      : warning('browser login', 'It is disabled.', 'Use management keys: gw account login --key-stdin'),
  ];
}

/** @param date the `Date` header; undefined without one. */
export function clockCheck(date: string | undefined, nowMs: number): Check {
  const serverMs = instantMsOf(date ?? '');
  if (Number.isNaN(serverMs))
    return { check: 'clock', state: 'unknown', detail: 'The gateway sends no date.', nextAction: null };
  const skewSeconds = Math.round((serverMs - nowMs) / 1000);
  if (Math.abs(serverMs - nowMs) <= MOST_SKEW_MS) return ok('clock', `within ${MOST_SKEW_MS / 1000} s of this machine`);
  const nextAction = 'Synchronize both clocks: tokens depend on them.';
  return warning('clock', `The clocks of gateway and this machine differ by ${skewSeconds} s.`, nextAction);
}

/** What `GET /v1/readyz` says. @param body of its answer, also of 503. */
export function readinessChecks(body: unknown): readonly Check[] {
  const { ready, database, vault, journal, redis, clock, limits } = Object(body);
  if (typeof ready !== 'boolean')
    return [failed('readiness', 'The gateway reports no state.', 'Check that no proxy answers /v1/readyz.')];
  return [
    database === 'ok'
      ? ok('Postgres', 'reachable')
      : failed('Postgres', `${database}`, 'Check DATABASE_URL and the database.'),
    vault === 'ok'
      ? ok('vault', 'decrypts keys')
      : failed('vault', `${vault}`, 'Check the vault’s settings: no provider key can be decrypted.'),
    journal === 'ok'
      ? ok('usage journal', 'ok')
      : failed('usage journal', `${journal}`, 'Check the disk of the data directory.'),
    redisCheck(redis),
    clock === 'ok'
      ? ok('clock of the instance', 'ok')
      : warning('clock of the instance', 'It differs from the shared time.', 'Synchronize it.'),
    limits === 'ok'
      ? ok('request limits', 'ok')
      : warning('request limits', 'Each instance counts within its share.', 'Check Redis.'),
  ];
}

function redisCheck(redis: unknown): Check {
  if (redis === 'ok') return ok('Redis', 'reachable');
  if (redis === 'unused') return ok('Redis', 'not used');
  if (redis === 'other')
    return failed('Redis', 'It differs from that of other instances.', 'Set the same REDIS_URL on all instances.');
  return failed('Redis', 'lost', 'Check REDIS_URL and Redis.');
}

/** @param arrivalsMs when each part came; undefined: the gateway has no such answer. */
export function streamCheck(arrivalsMs: readonly number[] | undefined): Check {
  if (arrivalsMs === undefined)
    return { check: 'streams', state: 'unknown', detail: 'This gateway has no such test.', nextAction: null };
  const spreadMs = Math.round((arrivalsMs.at(-1) ?? 0) - (arrivalsMs[0] ?? 0));
  if (spreadMs >= LEAST_SPREAD_MS) return ok('streams', `chunks arrive as they are sent (over ${spreadMs} ms)`);
  const nextAction = 'Disable response buffering in the proxy (nginx: proxy_buffering off).';
  return failed('streams', 'A proxy buffers answers until they are complete.', nextAction);
}

/** @param outcome of the test; undefined where it was refused with `error`. */
export function providerCheck(
  slug: string,
  outcome:
    | { readonly validated: boolean; readonly reason?: string | undefined; readonly status?: number | undefined }
    | undefined,
  error: unknown,
): Check {
  const check = `provider ${slug}`;
  if (outcome === undefined) {
    const message = Object(Object(error).error).message ?? 'The test was refused.';
    return failed(check, `${message}`, `Replace its key: gw provider rotate-key ${slug}`);
  }
  if (outcome.validated) return ok(check, 'its key works');
  if (outcome.reason === 'no_probe')
    return { check, state: 'unknown', detail: 'It has no free test.', nextAction: null };
  const status = outcome.status === undefined ? '' : ` (status ${outcome.status})`;
  return failed(check, `${outcome.reason}${status}`, 'Check its address, the network, and the provider’s status page.');
}

function warning(check: string, detail: string, nextAction: string): Check {
  return { check, state: 'warning', detail, nextAction };
}

function failed(check: string, detail: string, nextAction: string): Check {
  return { check, state: 'failed', detail, nextAction };
}
