import { type Deployment, isLoopback } from '../api/session.js';
import { instantMsOf } from '../program/environment.js';
import type { Failure } from '../program/failure.js';
import type { Colour } from '../terminal/terminal.js';

/** A check, and what to do about its result. */
export interface Check {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'failed' | 'unknown';
  readonly detail: string;
  readonly nextAction: string | null;
}

/** States as shown to people. */
export const STATES = { ok: 'passed', warning: 'warning', failed: 'failed', unknown: 'not checked' } as const;

const COLOURS: Readonly<Record<string, Colour>> = { passed: 'green', warning: 'yellow', failed: 'red' };

/** Lines of a table of checks are coloured by their state, which comes first. */
export const checkColour = (line: string): Colour | undefined => COLOURS[line.split(' ', 1)[0] ?? ''];

const MOST_SKEW_MS = 30_000;
/** `GET /v1/cli/stream` sends its parts over half a second; through a proxy that buffers they come at once. */
const LEAST_SPREAD_MS = 250;

/** A check without a problem. */
export const ok = (check: string, detail: string): Check => ({ check, state: 'ok', detail, nextAction: null });

/** Whether keys are encrypted in transit. */
export function addressCheck(url: string): Check {
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || isLoopback(hostname)
    ? ok('address', url)
    : warning('address', `${url} carries keys unencrypted.`, 'Put TLS before it.');
}

/** Versions and settings that clients depend on. @param version of this program. */
export function settingsChecks({ url, capabilities }: Deployment, version: string): readonly Check[] {
  const { serverVersion, deployment, features } = capabilities;
  return [
    serverVersion === version
      ? ok('version', serverVersion)
      : warning(
          'version',
          `The gateway is ${serverVersion}, gw is ${version}.`,
          'Use the gw of the gateway’s version.',
        ),
    isSameOrigin(deployment.apiUrl, url)
      ? ok('public address', deployment.apiUrl)
      : warning(
          'public address',
          `The public URL of the gateway is ${deployment.apiUrl}.`,
          `If clients use ${url}, set PUBLIC_URL to it.`,
        ),
    features.browserLogin
      ? ok('browser login', 'enabled')
      : warning('browser login', 'It is disabled.', 'Use management keys: gw account login --key-stdin'),
  ];
}

/** `localhost` and `127.0.0.1` are one machine. */
function isSameOrigin(one: string, other: string): boolean {
  const [a, b] = [new URL(one), new URL(other)];
  const isThisMachine = isLoopback(a.hostname) && isLoopback(b.hostname);
  return a.origin === b.origin || (isThisMachine && a.protocol === b.protocol && a.port === b.port);
}

/** @param date the `Date` header; undefined without one. */
export function clockCheck(date: string | undefined, nowMs: number): Check {
  const serverMs = instantMsOf(date ?? '');
  if (Number.isNaN(serverMs)) return notChecked('clock', 'The gateway sends no Date header.');
  const skewSeconds = Math.round((serverMs - nowMs) / 1000);
  if (Math.abs(serverMs - nowMs) <= MOST_SKEW_MS) return ok('clock', `within ${MOST_SKEW_MS / 1000} s of this machine`);
  const nextAction = 'Synchronize both clocks: tokens depend on them.';
  return warning('clock', `The clocks of gateway and this machine differ by ${skewSeconds} s.`, nextAction);
}

/** The result of `GET /v1/readyz`. @param body of its response, also of 503. */
export function readinessChecks(body: unknown): readonly Check[] {
  const { ready, database, vault, journal, redis, clock, limits } = Object(body);
  if (typeof ready !== 'boolean')
    return [failed('readiness', 'The gateway does not report its state.', 'Check that no proxy answers /v1/readyz.')];
  return [
    database === 'ok'
      ? ok('Postgres', 'reachable')
      : failed(
          'Postgres',
          `${database}`,
          'Check the database in DATABASE_URL; without that setting, restart the gateway, which starts its own.',
        ),
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

/** @param arrivalsMs when each part arrived; undefined: the gateway does not have this route. */
export function streamCheck(arrivalsMs: readonly number[] | undefined): Check {
  if (arrivalsMs === undefined) return notChecked('streams', 'This gateway does not offer this test.');
  const spreadMs = Math.round((arrivalsMs.at(-1) ?? 0) - (arrivalsMs[0] ?? 0));
  if (spreadMs >= LEAST_SPREAD_MS) return ok('streams', `chunks arrive as they are sent (over ${spreadMs} ms)`);
  const nextAction = 'Disable response buffering in the proxy (nginx: proxy_buffering off).';
  return failed('streams', 'A proxy buffers answers until they are complete.', nextAction);
}

/** The result of a completed provider test. */
interface ProviderOutcome {
  readonly validated: boolean;
  readonly reason?: string | undefined;
  readonly status?: number | undefined;
}

export function providerCheck(slug: string, { validated, reason, status }: ProviderOutcome): Check {
  const check = `provider ${slug}`;
  if (validated) return ok(check, 'its key works');
  if (reason === 'no_probe') return notChecked(check, 'It has no free test.');
  const shown = status === undefined ? '' : ` (status ${status})`;
  return failed(check, `${reason}${shown}`, 'Check its address, the network, and the provider’s status page.');
}

/** Refusals of a test that are about the provider; all others are about the caller or the gateway. */
const REFUSED_KEY = 'provider_key_invalid';
const UNREADABLE_KEY = 'provider_unavailable';

/** A test of a provider that was refused. */
export function refusedProviderCheck(slug: string, refusal: Refusal): Check {
  const check = `provider ${slug}`;
  if (refusal.code === REFUSED_KEY) {
    return failed(check, refusal.message, `Replace its key: gw provider rotate-key ${slug}`);
  }
  if (refusal.code === UNREADABLE_KEY) {
    return failed(check, refusal.message, 'Check the vault’s settings, and the address of the provider.');
  }
  return notChecked(check, refusal.message, refusal.nextAction);
}

/** Why a check failed to run, as the text of a failure. */
type Refusal = Pick<Failure, 'code' | 'message' | 'nextAction'>;

/** A check that could not run. @param reason why not. */
export function notChecked(check: string, reason: string, nextAction: string | null = null): Check {
  return { check, state: 'unknown', detail: reason, nextAction };
}

/** A login that does not work; having none is not a problem of the deployment. */
export function loginCheck({ code, message, nextAction }: Refusal): Check {
  const state = code === 'not_logged_in' ? 'warning' : 'failed';
  return { check: 'login', state, detail: message, nextAction };
}

function warning(check: string, detail: string, nextAction: string): Check {
  return { check, state: 'warning', detail, nextAction };
}

/** A check that found a problem. */
export function failed(check: string, detail: string, nextAction: string | null): Check {
  return { check, state: 'failed', detail, nextAction };
}
