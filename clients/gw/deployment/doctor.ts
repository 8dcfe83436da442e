import { type Api, apiOf, read } from '../api/client.js';
import { deploymentAt, type Session, sessionOf, urlOf } from '../api/session.js';
import type { Action } from '../program/command.js';
import { EXIT, Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { table } from '../terminal/table.js';
import {
  type Check,
  checkColour,
  clockCheck,
  providerCheck,
  readinessChecks,
  settingsChecks,
  streamCheck,
} from './doctor.rules.js';

/** `gw doctor`. @throws Failure something has failed. */
export const doctor: Action = async (gw) => {
  const deployment = await deploymentAt(urlOf(gw), gw.context);
  const checks: Check[] = [...settingsChecks(deployment, gw.version)];
  checks.push(clockCheck(await serverTime(deployment.url), gw.nowMs()), ...(await readiness(deployment.url)));
  checks.push(...(await accountChecks(gw)));
  const text = table(
    ['STATE', 'CHECK', 'DETAIL'],
    checks.map(({ state, check, detail, nextAction }) => [
      state,
      check,
      nextAction === null ? detail : `${detail} ${nextAction}`,
    ]),
  );
  const failed = checks.filter(({ state }) => state === 'failed');
  if (failed.length === 0) return { result: { healthy: true, checks }, text, colourOf: checkColour };
  if (!gw.isJson) gw.terminal.print(text, checkColour);
  const names = failed.map(({ check }) => check).join(', ');
  throw new Failure(EXIT.remote, 'unhealthy', `Failed: ${names}.`, {
    ...{ nextAction: failed[0]?.nextAction ?? 'See the details.', details: { checks } },
  });
};

/** What only a login shows. */
async function accountChecks(gw: Invocation): Promise<readonly Check[]> {
  let session: Session;
  try {
    session = await sessionOf(gw);
  } catch (error) {
    if (!(error instanceof Failure) || error.exitCode !== EXIT.state) throw error;
    return [{ check: 'login', state: 'warning', detail: error.message, nextAction: error.nextAction }];
  }
  const { api, standing } = session;
  const login: Check = { check: 'login', state: 'ok', detail: standing.account.name, nextAction: null };
  return [login, await streams(session), ...(await providers(api)), ...(await applications(api))];
}

async function readiness(url: string): Promise<readonly Check[]> {
  const { data, error } = await apiOf(url).GET('/v1/readyz');
  return readinessChecks(data ?? error);
}

/** What the gateway's `Date` says; undefined without one. */
async function serverTime(url: string): Promise<string | undefined> {
  const { response } = await apiOf(url).GET('/v1/healthz');
  return response.headers.get('date') ?? undefined;
}

/** Whether parts of a slow answer come one by one, or all at the end. */
async function streams({ api }: Session): Promise<Check> {
  const startedAt = performance.now();
  const { response } = await api.GET('/v1/cli/stream', { parseAs: 'stream' });
  if (!response.ok) return streamCheck(undefined);
  const arrivals: number[] = [];
  for await (const _part of response.body ?? []) arrivals.push(performance.now() - startedAt);
  return streamCheck(arrivals);
}

async function providers(api: Api): Promise<readonly Check[]> {
  const { providers: all } = await read(api.GET('/v1/admin/providers'));
  if (all.length === 0) {
    const nextAction = 'Add one: gw provider add';
    return [{ check: 'providers', state: 'warning', detail: 'There are no providers.', nextAction }];
  }
  const checks: Check[] = [];
  for (const { id, slug, status } of all) {
    if (status === 'disabled') {
      checks.push({ check: `provider ${slug}`, state: 'warning', detail: 'It is disabled.', nextAction: null });
      continue;
    }
    const { data, error } = await api.POST('/v1/admin/providers/{id}/test', { params: { path: { id } } });
    checks.push(providerCheck(slug, data, error));
  }
  return checks;
}

async function applications(api: Api): Promise<readonly Check[]> {
  const { apps } = await read(api.GET('/v1/admin/apps'));
  const broken = apps.filter(({ authentication_type }) => authentication_type === 'invalid');
  if (broken.length === 0) {
    const detail = `${apps.length}, all configurations are valid.`;
    return [{ check: 'applications', state: 'ok', detail, nextAction: null }];
  }
  return broken.map(({ id }) => ({
    ...{ check: `application ${id}`, state: 'failed', detail: 'Its configuration is no longer valid.' },
    nextAction: `See why: gw app show ${id}`,
  }));
}
