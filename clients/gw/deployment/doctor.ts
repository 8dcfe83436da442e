import { adviceOn } from '../api/advice.rules.js';
import { type Api, apiOf, read } from '../api/client.js';
import { refusal } from '../api/refusal.rules.js';
import { type Deployment, deploymentAt, type Session, sessionOf, urlOf } from '../api/session.js';
import type { Action } from '../program/command.js';
import { asFailure, EXIT, Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { table } from '../terminal/table.js';
import {
  addressCheck,
  type Check,
  checkColour,
  clockCheck,
  failed,
  loginCheck,
  notChecked,
  ok,
  providerCheck,
  readinessChecks,
  refusedProviderCheck,
  STATES,
  settingsChecks,
  streamCheck,
} from './doctor.rules.js';

/**
 * `gw doctor`: a failing check never prevents the others, and completed checks are printed even if the command is
 * stopped.
 *
 * @throws Failure if a check failed.
 */
export const doctor: Action = async (gw) => {
  const url = urlOf(gw);
  gw.context.url = url;
  const found: Found = { service: [[addressCheck(url)], [], [], []], account: [] };
  gw.standing = 'The other checks were skipped.';
  gw.soFar = () => ({ text: textOf(checksOf(found)), colourOf: checkColour, details: { checks: checksOf(found) } });
  const [, , deployment] = await Promise.all([
    attempt(gw, () => readiness(url)).then((ready) => {
      found.service[1] = 'met' in ready ? [failed('readiness', ready.met.message, ready.met.nextAction)] : ready.made;
    }),
    attempt(gw, () => serverTime(url)).then((time) => {
      found.service[2] = ['met' in time ? notChecked('clock', time.met.message) : clockCheck(time.made, gw.nowMs())];
    }),
    attempt(gw, () => deploymentAt(url, gw.context)).then((answered) => {
      found.service[3] = deploymentChecks(answered, gw.version);
      return answered;
    }),
  ]);
  if ('met' in deployment) found.account.push(notChecked('login', NO_IDENTITY), ...without(NO_IDENTITY));
  else await addAccountChecks(gw, found.account);
  const checks = checksOf(found);
  const text = textOf(checks);
  const faults = checks.filter(({ state }) => state === 'failed');
  if (faults.length === 0) return { result: { healthy: true, checks }, text, colourOf: checkColour };
  if (!gw.isJson) gw.terminal.print(text, checkColour);
  const names = faults.map(({ check }) => check).join(', ');
  throw new Failure(EXIT.remote, 'unhealthy', `Failed: ${names}.`, {
    ...{ nextAction: faults[0]?.nextAction ?? 'See the details.', details: { checks } },
  });
};

/** The completed checks. */
interface Found {
  /** Of the service, in parallel; the order is fixed. */
  readonly service: (readonly Check[])[];
  /** Of the account, in sequence. */
  readonly account: Check[];
}

const checksOf = ({ service, account }: Found): readonly Check[] => [...service.flat(), ...account];

const textOf = (checks: readonly Check[]): string =>
  table(
    ['STATE', 'CHECK', 'DETAIL'],
    checks.map(({ state, check, detail, nextAction }) => [
      STATES[state],
      check,
      nextAction === null ? detail : `${detail} ${nextAction}`,
    ]),
  );

const NO_IDENTITY = 'The gateway does not identify its deployment.';

/** The result of a part of the diagnosis, or its error. */
type Attempt<T> = { readonly made: T } | { readonly met: Failure };

async function attempt<T>({ environment }: Invocation, look: () => Promise<T>): Promise<Attempt<T>> {
  try {
    return { made: await look() };
  } catch (error) {
    const met = asFailure(error);
    const place = { command: 'doctor', hasEnvironmentKey: environment.managementKey !== undefined };
    // The other checks say what an unavailable service needs.
    const advice = met.code === 'service_unavailable' ? null : adviceOn(met, place);
    return { met: met.withAdvice(advice) };
  }
}

function deploymentChecks(deployment: Attempt<Deployment>, version: string): readonly Check[] {
  if ('made' in deployment) return [ok('gateway', 'answers'), ...settingsChecks(deployment.made, version)];
  const { message, nextAction } = deployment.met;
  const others = ['version', 'public address', 'browser login'];
  return [failed('gateway', message, nextAction), ...others.map((check) => notChecked(check, NO_IDENTITY))];
}

/** The checks that need a login, without one. */
const without = (reason: string) => ['streams', 'providers', 'applications'].map((check) => notChecked(check, reason));

/** The checks that need a login. @param checks collects each as it completes. */
async function addAccountChecks(gw: Invocation, checks: Check[]): Promise<void> {
  const opened = await attempt(gw, () => sessionOf(gw));
  if ('met' in opened) {
    checks.push(loginCheck(opened.met), ...without('That needs a login.'));
    return;
  }
  const { made: session } = opened;
  const parts: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['streams', async () => checks.push(await streams(session))],
    ['providers', () => addProviders(gw, session.api, checks)],
    ['applications', async () => checks.push(...(await applications(session.api)))],
  ];
  checks.push(ok('login', session.standing.account.name));
  for (const [check, look] of parts) {
    gw.terminal.tell(`Checking ${check}`);
    const part = await attempt(gw, look);
    if ('met' in part) checks.push(notChecked(check, part.met.message, part.met.nextAction));
  }
}

async function readiness(url: string): Promise<readonly Check[]> {
  const { data, error, response } = await apiOf(url).GET('/v1/readyz');
  const body: unknown = data ?? error;
  if (typeof Object(body).ready !== 'boolean' && !response.ok) throw refusal(response, body);
  return readinessChecks(body);
}

/** The `Date` header of the gateway; undefined without one. */
async function serverTime(url: string): Promise<string | undefined> {
  const { response } = await apiOf(url).GET('/v1/healthz');
  return response.headers.get('date') ?? undefined;
}

/** Whether the parts of a slow response arrive one by one, or all at the end. */
async function streams({ api }: Session): Promise<Check> {
  const startedAt = performance.now();
  const { response, error } = await api.GET('/v1/cli/stream', { parseAs: 'stream' });
  if (response.status === 404) return streamCheck(undefined);
  if (!response.ok) throw refusal(response, error);
  const arrivals: number[] = [];
  try {
    for await (const _part of response.body ?? []) arrivals.push(performance.now() - startedAt);
  } catch {
    return failed('streams', 'The response ended too early.', 'Look for a timeout in the proxy before the gateway.');
  }
  return streamCheck(arrivals);
}

async function addProviders(gw: Invocation, api: Api, checks: Check[]): Promise<void> {
  const { providers: all } = await read(api.GET('/v1/admin/providers'));
  if (all.length === 0) {
    const nextAction = 'Add one: gw provider add';
    checks.push({ check: 'providers', state: 'warning', detail: 'There are no providers.', nextAction });
  }
  for (const { id, slug, status } of all) {
    if (status === 'disabled') {
      const nextAction = `Enable it: gw provider update ${slug} --status active`;
      checks.push({ check: `provider ${slug}`, state: 'warning', detail: 'It is disabled.', nextAction });
      continue;
    }
    const params = { params: { path: { id } } };
    const tested = await attempt(gw, () => read(api.POST('/v1/admin/providers/{id}/test', params)));
    checks.push('met' in tested ? refusedProviderCheck(slug, tested.met) : providerCheck(slug, tested.made));
  }
}

async function applications(api: Api): Promise<readonly Check[]> {
  const { apps } = await read(api.GET('/v1/admin/apps'));
  const broken = apps.filter(({ authentication_type }) => authentication_type === 'invalid');
  if (broken.length === 0) {
    const detail = apps.length === 0 ? 'none yet' : `${apps.length}, all configurations are valid.`;
    return [{ check: 'applications', state: 'ok', detail, nextAction: null }];
  }
  return broken.map(({ id }) => ({
    ...{ check: `application ${id}`, state: 'failed', detail: 'Its configuration is no longer valid.' },
    nextAction: `See why: gw app show ${id}`,
  }));
}
