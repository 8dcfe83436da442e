import { apiOf, read } from '../api/client.js';
import { deploymentAt, openSession, originOf, urlOf } from '../api/session.js';
import type { Action } from '../program/command.js';
import { Failure } from '../program/failure.js';
import { facts } from '../terminal/table.js';

/** `gw deployment connect`: saves a deployment, and a key if one is given, as a profile. */
export const connect: Action = async (gw) => {
  const { environment, terminal, profiles, profileName, context } = gw;
  const typed = gw.text('url') ?? environment.url;
  if (typed === undefined) {
    const nextAction = 'Give it: gw deployment connect --url https://gateway.example.com';
    throw Failure.input('url_required', 'The address of the gateway is missing.', { nextAction });
  }
  const url = originOf(typed, environment.allowsHttp);
  const key = gw.flag('keyStdin') ? await terminal.readStdin() : undefined;
  const deployment = await deploymentAt(url, context);
  const account = key === undefined ? null : (await openSession(deployment, key, context)).standing.account.id;
  const deploymentId = deployment.capabilities.deployment.id;
  profiles.save(profileName, { version: 1, url, deploymentId, accountId: account }, key);
  const result = { profile: profileName, url, deploymentId, accountId: account };
  const next = account === null ? '\nNow log in: gw account login' : '';
  return { result, text: `Connected to ${url} as profile "${profileName}".${next}` };
};

/** `gw deployment status`: what the gateway says of itself, without a key. */
export const status: Action = async (gw) => {
  const { url, capabilities } = await deploymentAt(urlOf(gw), gw.context);
  const health = await read(apiOf(url).GET('/v1/healthz'));
  const { serverVersion, deployment, consoleOrigin } = capabilities;
  const result = { url, serverVersion, deployment, consoleOrigin, health };
  const text = facts({ Gateway: url, Version: serverVersion, Console: consoleOrigin, Deployment: deployment.id });
  return { result, text };
};
