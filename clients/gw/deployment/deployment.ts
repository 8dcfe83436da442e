import { apiOf, read } from '../api/client.js';
import { deploymentAt, originOf, urlOf } from '../api/session.js';
import type { Action } from '../program/command.js';
import { Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { KEY_STAYS_VALID } from '../state/profiles.js';
import { facts } from '../terminal/table.js';
import { requireProfileFor, saveKey, switchText } from './account.js';

/** `gw deployment connect`: saves a deployment, and a key if one is given, as a profile. */
export const connect: Action = async (gw) => {
  const url = originOf(await typedUrl(gw), gw.environment.allowsHttp);
  await requireProfileFor(gw, url);
  const key = gw.flag('keyStdin') ? await gw.terminal.readStdin() : undefined;
  const deployment = await deploymentAt(url, gw.context);
  const [name, before] = [gw.profileName, gw.profiles.current()];
  const saved = await saveKey(gw, deployment, key);
  const result = { profile: name, url, deploymentId: deployment.capabilities.deployment.id, ...saved };
  const next = saved.accountId === null ? `\nNow log in: gw account login` : '';
  const valid = saved.forgotValidKey ? `\n${KEY_STAYS_VALID}` : '';
  return { result, text: `Connected to ${url} as profile "${name}".${valid}${switchText(gw, before)}${next}` };
};

async function typedUrl(gw: Invocation): Promise<string> {
  const typed = gw.text('url') ?? gw.environment.url;
  if (typed !== undefined) return typed;
  if (gw.mayAsk) return gw.askText('Address of the gateway');
  const nextAction = 'Give it: gw deployment connect --url https://gateway.example.com';
  throw Failure.input('url_required', 'The address of the gateway is missing.', { nextAction });
}

/** `gw deployment status`: version and state of the gateway, without a key. Anything but `ready` is not ready. */
export const status: Action = async (gw) => {
  const { url, capabilities } = await deploymentAt(urlOf(gw), gw.context);
  const [health, { data: readiness }] = await Promise.all([
    read(apiOf(url).GET('/v1/healthz')),
    apiOf(url).GET('/v1/readyz'),
  ]);
  const ready = readiness?.ready ?? false;
  const { serverVersion, deployment, consoleOrigin } = capabilities;
  const result = { url, serverVersion, deployment, consoleOrigin, health, ready };
  const values = { Gateway: url, Version: serverVersion, Console: consoleOrigin, Deployment: deployment.id };
  const next = health.vault === 'ok' && ready ? '' : '\n\nFind out why: gw doctor';
  const state = ready ? 'ready' : 'not ready: it refuses calls';
  return { result, text: `${facts({ ...values, State: state, Vault: health.vault })}${next}` };
};
