import { apiOf, read } from '../api/client.js';
import { deploymentAt, originOf, urlOf } from '../api/session.js';
import type { Action } from '../program/command.js';
import { Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { facts } from '../terminal/table.js';
import { saveKey } from './account.js';

/** `gw deployment connect`: saves a deployment, and a key if one is given, as a profile. */
export const connect: Action = async (gw) => {
  const url = originOf(await typedUrl(gw), gw.environment.allowsHttp);
  const key = gw.flag('keyStdin') ? await gw.terminal.readStdin() : undefined;
  const deployment = await deploymentAt(url, gw.context);
  const accountId = await saveKey(gw, deployment, key);
  const result = { profile: gw.profileName, url, deploymentId: deployment.capabilities.deployment.id, accountId };
  const next = accountId === null ? '\nNow log in: gw account login' : '';
  return { result, text: `Connected to ${url} as profile "${gw.profileName}".${next}` };
};

async function typedUrl(gw: Invocation): Promise<string> {
  const typed = gw.text('url') ?? gw.environment.url;
  if (typed !== undefined) return typed;
  if (gw.mayAsk) return gw.terminal.askText('Address of the gateway');
  const nextAction = 'Give it: gw deployment connect --url https://gateway.example.com';
  throw Failure.input('url_required', 'The address of the gateway is missing.', { nextAction });
}

/** `gw deployment status`: version and state of the gateway, without a key. */
export const status: Action = async (gw) => {
  const { url, capabilities } = await deploymentAt(urlOf(gw), gw.context);
  const health = await read(apiOf(url).GET('/v1/healthz'));
  const { serverVersion, deployment, consoleOrigin } = capabilities;
  const result = { url, serverVersion, deployment, consoleOrigin, health };
  const text = facts({ Gateway: url, Version: serverVersion, Console: consoleOrigin, Deployment: deployment.id });
  return { result, text };
};
