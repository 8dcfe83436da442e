import { read } from '../api/client.js';
import { type Deployment, openSession, sessionOf } from '../api/session.js';
import { inBrowser } from '../operations/browser-step.js';
import type { Action } from '../program/command.js';
import { Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { facts } from '../terminal/table.js';

/** `gw account status` */
export const status: Action = async (gw) => {
  const { url, standing } = await sessionOf(gw);
  const { account } = standing;
  const text = facts({ Gateway: url, Account: account.name, Id: account.id, Claimed: account.claimed ? 'yes' : 'no' });
  return { result: standing, text: account.claimed ? text : `${text}\n\nClaim it: gw account claim` };
};

/** `gw account claim` */
export const claim: Action = async (gw) => inBrowser(gw, await sessionOf(gw), 'claim', {}, 'You own the account.');

/** `gw account logout`: the key is revoked first, so that a failure leaves it usable. */
export const logout: Action = async (gw) => {
  if (gw.environment.managementKey !== undefined) {
    const nextAction = 'Unset GW_MANAGEMENT_KEY, or revoke that key in the console.';
    throw Failure.input('key_of_environment', 'The key of the environment is not saved by gw.', { nextAction });
  }
  const { api } = await sessionOf(gw);
  await read(api.DELETE('/v1/cli/credential'));
  await gw.profiles.forgetKey(gw.profileName);
  return { result: { profile: gw.profileName, revoked: true }, text: 'Logged out. The key is revoked.' };
};

/**
 * Saves a deployment as the profile of the command, with a key that it accepts.
 *
 * @param key undefined: none; one that is saved for the profile goes.
 * @returns the account of the key; null without one.
 * @throws Failure the key is refused.
 */
export async function saveKey(gw: Invocation, deployment: Deployment, key: string | undefined): Promise<string | null> {
  const session = key === undefined ? undefined : await openSession(deployment, key, gw.context);
  const accountId = session?.standing.account.id ?? null;
  const profile = { url: deployment.url, deploymentId: deployment.capabilities.deployment.id, accountId };
  await gw.profiles.save(gw.profileName, profile, key);
  return accountId;
}
