import { createHash, randomBytes } from 'node:crypto';
import { hostname, platform } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { apiOf, read } from '../api/client.js';
import { type Deployment, deploymentAt, openSession, originOf, urlOf } from '../api/session.js';
import type { Action } from '../program/command.js';
import { Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';

const POLL_INTERVAL_MS = 1_000;
const TOKEN_BYTES = 32;

/** `gw account login`: waits until a person approves in a browser, and saves the key that comes of it. */
export const login: Action = async (gw) => {
  const { environment, terminal, profiles, profileName, context } = gw;
  const typed = gw.text('url');
  const url = typed === undefined ? urlOf(gw) : originOf(typed, environment.allowsHttp);
  const deployment = await deploymentAt(url, context);
  if (gw.flag('keyStdin')) return saved(gw, deployment, await terminal.readStdin());
  const token = profiles.pendingLogin(profileName, url) ?? randomBytes(TOKEN_BYTES).toString('base64url');
  profiles.saveLogin(profileName, url, token);
  const client = { label: hostname().slice(0, 200) || 'gw', os: platform() };
  const opened = await read(apiOf(url).POST('/v1/cli/login', { body: { token, client } }));
  if (opened.state === 'pending') {
    const { url: link, userCode, expiresAt } = opened;
    const text = `Open ${link}\nor type ${userCode} at ${deployment.capabilities.consoleOrigin}/cli`;
    if (!gw.mayAsk) {
      const next = 'Run the command again when it is approved.';
      return { result: { state: 'pending', url: link, userCode, expiresAt }, text: `${text}\n${next}` };
    }
    terminal.printError(`${text}\nWaiting for the approval. Ctrl-C stops; the command can be run again.`);
  }
  return saved(gw, deployment, await keyOf(gw, url, token));
};

async function saved(gw: Invocation, deployment: Deployment, key: string): ReturnType<Action> {
  const { standing } = await openSession(deployment, key, gw.context);
  const accountId = standing.account.id;
  const { url, capabilities } = deployment;
  gw.profiles.save(gw.profileName, { version: 1, url, deploymentId: capabilities.deployment.id, accountId }, key);
  gw.profiles.forgetLogin(gw.profileName);
  const result = { state: 'completed', profile: gw.profileName, url, accountId };
  return { result, text: `Logged in to ${url} as profile "${gw.profileName}".` };
}

/** Polls until the login ends. @throws Failure it was declined or lapsed, or its key was collected before. */
async function keyOf({ profiles, profileName }: Invocation, url: string, token: string): Promise<string> {
  const id = `op:${createHash('sha256').update(token).digest('hex')}`;
  const poll = () => read(apiOf(url, token).GET('/v1/cli/operations/{id}', { params: { path: { id } } }));
  let standing = await poll();
  while (standing.state === 'pending') {
    await pause(POLL_INTERVAL_MS);
    standing = await poll();
  }
  const key = Object(Object(standing.result).credential).token;
  if (typeof key === 'string') return key;
  profiles.forgetLogin(profileName);
  const nextAction = 'Begin again: gw account login';
  if (standing.denied === true) throw Failure.state('login_denied', 'The login was declined.', { nextAction });
  if (standing.state === 'expired') throw Failure.state('login_expired', 'The login lapsed.', { nextAction });
  throw Failure.state('login_collected', 'The key of this login was collected before.', { nextAction });
}
