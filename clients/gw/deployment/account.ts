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
    throw Failure.input('key_of_environment', 'The key comes from the environment; gw has not saved it.', {
      nextAction,
    });
  }
  const { api } = await sessionOf(gw);
  await read(api.DELETE('/v1/cli/credential'));
  await gw.profiles.forgetKey(gw.profileName);
  return { result: { profile: gw.profileName, revoked: true }, text: 'Logged out. The key is revoked.' };
};

/**
 * Before any prompt: a profile with a key for one address must not become that of another unnoticed.
 *
 * @throws Failure it is.
 */
export async function requireProfileFor({ profiles, profileName: name }: Invocation, url: string): Promise<void> {
  const saved = profiles.readable(name);
  if (saved === undefined || saved.url === url || !(await profiles.hasKey(name))) return;
  const nextAction = `Name the new one: --profile <name>. Or forget the old one: gw profile remove ${name}`;
  throw Failure.input('profile_exists', `The profile "${name}" has a key for ${saved.url}.`, { nextAction });
}

/** The result of saving a deployment. */
interface Saved {
  /** Null without a key. */
  readonly accountId: string | null;
  /** Whether a previously saved key is no longer saved. */
  readonly forgotValidKey: boolean;
}

/**
 * Saves a deployment as the profile of the command, with a key that it accepts, and makes it the current one.
 *
 * @param key undefined: that of the profile stays, if it was saved for this deployment.
 * @throws Failure the key is refused.
 */
export async function saveKey(gw: Invocation, deployment: Deployment, key: string | undefined): Promise<Saved> {
  const { profiles, profileName: name, context } = gw;
  const { url, capabilities } = deployment;
  const deploymentId = capabilities.deployment.id;
  const before = profiles.readable(name);
  const isSame = before?.url === url && before.deploymentId === deploymentId;
  const kept = key === undefined && isSame ? await profiles.key(name) : undefined;
  const accountId = key === undefined ? undefined : (await openSession(deployment, key, context)).standing.account.id;
  const profile = {
    url,
    deploymentId,
    accountId: accountId ?? (kept === undefined ? null : (before?.accountId ?? null)),
  };
  const forgotValidKey = await profiles.save(name, profile, key ?? kept);
  return { accountId: profile.accountId, forgotValidKey };
}

/** The new current profile, if it changed. @param before the previous one. */
export function switchText({ profiles, profileName }: Invocation, before: string): string {
  if (before === profileName || !profiles.has(before)) return '';
  return `\nIt is the current profile now. To switch back: gw profile use ${before}`;
}
