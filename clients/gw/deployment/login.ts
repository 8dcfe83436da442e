import { hostname, platform } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { apiOf, read } from '../api/client.js';
import { type Deployment, deploymentAt, originOf, urlOf } from '../api/session.js';
import { ended, type Operation, operationOf } from '../operations/browser-step.js';
import { operationIdOf } from '../operations/operation-tokens.js';
import type { Action, Outcome } from '../program/command.js';
import { Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { KEY_STAYS_VALID } from '../state/profiles.js';
import { newToken } from '../state/request-proofs.js';
import { openBrowser } from '../terminal/browser.js';
import { requireProfileFor, saveKey, switchText } from './account.js';
import { listenOnLoopback } from './loopback.js';

const POLL_INTERVAL_MS = 1_000;

/** `gw account login`: waits until a person approves in a browser, and saves the key. */
export const login: Action = async (gw) => {
  const { environment, terminal, context } = gw;
  const typed = gw.text('url');
  const url = typed === undefined ? urlOf(gw) : originOf(typed, environment.allowsHttp);
  await requireProfileFor(gw, url);
  const deployment = await deploymentAt(url, context);
  if (gw.flag('keyStdin')) return saved(gw, deployment, await terminal.readStdin());
  if (!deployment.capabilities.features.browserLogin) {
    const nextAction = 'Use a management key: gw account login --key-stdin';
    throw Failure.state('login_unavailable', `${url} has no browser login.`, { nextAction });
  }
  const opensBrowser = gw.mayWait && gw.isLeft('open') && environment.hasBrowser;
  return opensBrowser ? withLocalBrowser(gw, deployment) : withAnyBrowser(gw, deployment);
};

const client = () => ({ label: hostname().slice(0, 200) || 'gw', os: platform() });

/** The browser brings the code back to this machine. */
async function withLocalBrowser(gw: Invocation, deployment: Deployment): Promise<Outcome> {
  const { url } = deployment;
  const token = newToken();
  const loopback = await listenOnLoopback((code) => keyFor(url, token, code));
  try {
    const body = { token, client: client(), loopbackRedirect: loopback.redirect };
    const { url: link } = await read(apiOf(url).POST('/v1/cli/login', { body }));
    if (link === null) throw Failure.state('login_expired', 'The login has expired.', { nextAction: 'Start again.' });
    gw.terminal.printError(`Opening ${link}\nNo browser? Stop with Ctrl-C and use: gw account login --no-open`);
    gw.standing = 'You are not logged in.';
    gw.terminal.tell('Waiting for the browser');
    await openBrowser(link);
    const key = await redeemedKey(url, token, loopback.redeemed);
    gw.terminal.tell('Working');
    return await saved(gw, deployment, key);
  } finally {
    loopback.close();
  }
}

/** Refusals of a code that is not that of the login. */
const WRONG_CODE = new Set(['forbidden', 'operation_pending', 'invalid_request']);

/** The key for the code of a redirect; undefined if the code is not that of the login. */
async function keyFor(url: string, token: string, redeemCode: string): Promise<string | undefined> {
  // The browser returns after the approval. A code before that is not ours, and wrong codes are limited.
  if ((await operationOf(url, token)).state === 'pending') return undefined;
  const place = { params: { path: { id: operationIdOf(token) } }, body: { redeemCode } };
  try {
    return (await read(apiOf(url, token).POST('/v1/cli/login/{id}/redeem', place))).credential.token;
  } catch (error) {
    if (error instanceof Failure && WRONG_CODE.has(error.code)) return undefined;
    throw error;
  }
}

/** Waits for the key, or for the login to end without one. */
async function redeemedKey(url: string, token: string, redeemed: Promise<string>): Promise<string> {
  for (;;) {
    const key = await Promise.race([redeemed, pause(POLL_INTERVAL_MS, undefined)]);
    if (key !== undefined) return key;
    requireGoingOn(await operationOf(url, token));
  }
}

/** The login is approved in any browser; this machine polls for it. */
async function withAnyBrowser(gw: Invocation, deployment: Deployment): Promise<Outcome> {
  const { terminal, profiles, profileName } = gw;
  const { url } = deployment;
  const token = profiles.pendingLogin(profileName, url) ?? newToken();
  profiles.saveLogin(profileName, url, token);
  const opened = await read(apiOf(url).POST('/v1/cli/login', { body: { token, client: client() } }));
  if (opened.state === 'pending') {
    const { url: link, userCode, expiresAt } = opened;
    const text = `Open ${link}\nor type ${userCode} at ${deployment.capabilities.consoleOrigin}/cli`;
    if (!gw.mayWait) {
      const next = 'Run the command again when it is approved.';
      return { result: { state: 'pending', url: link, userCode, expiresAt }, text: `${text}\n${next}` };
    }
    gw.standing = 'The login is still pending; run the command again to continue.';
    terminal.printError(`${text}\nWaiting for the approval. Press Ctrl-C to stop; run the command again to continue.`);
    terminal.tell('Waiting for the approval');
  }
  return saved(gw, deployment, await keyOf(gw, url, token));
}

async function saved(gw: Invocation, deployment: Deployment, key: string): Promise<Outcome> {
  const [name, before] = [gw.profileName, gw.profiles.current()];
  const kept = await saveKey(gw, deployment, key);
  gw.profiles.forgetLogin(name);
  const result = { state: 'completed', profile: name, url: deployment.url, ...kept };
  const valid = kept.forgotValidKey ? `\n${KEY_STAYS_VALID}` : '';
  return { result, text: `Logged in to ${deployment.url} as profile "${name}".${valid}${switchText(gw, before)}` };
}

/** Polls until the login ends. @throws Failure if it was declined or expired, or its key was already collected. */
async function keyOf({ profiles, profileName }: Invocation, url: string, token: string): Promise<string> {
  const standing = await ended(url, token);
  const key = Object(Object(standing.result).credential).token;
  if (typeof key === 'string') return key;
  profiles.forgetLogin(profileName);
  requireGoingOn(standing);
  const nextAction = 'Start again: gw account login';
  throw Failure.state('login_collected', 'The key of this login was already collected.', { nextAction });
}

/** @throws Failure if the login was declined or expired. */
function requireGoingOn({ denied, state }: Operation): void {
  const nextAction = 'Start again: gw account login';
  if (denied === true) throw Failure.state('login_denied', 'The login was declined.', { nextAction });
  if (state === 'expired') throw Failure.state('login_expired', 'The login expired.', { nextAction });
}
