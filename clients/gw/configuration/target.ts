import { type Session, sessionOf, urlOf } from '../api/session.js';
import { Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';

/** The only gateway and account that something is for. Null: any. */
export interface Target {
  readonly url: string | null;
  readonly account: string | null;
  /** Undefined: any that has this address. */
  readonly deploymentId?: string;
}

/**
 * The account that a configuration is for. It never decides where a key is sent: it selects among saved gateways, and
 * otherwise is compared with the named one.
 *
 * @param what as `The environment "production"`.
 * @throws Failure the key is that of another account, or another gateway is connected.
 */
export async function sessionFor(gw: Invocation, target: Target | undefined, what: string): Promise<Session> {
  if (target === undefined) return sessionOf(gw);
  const { url, account, deploymentId } = target;
  chooseProfile(gw, target);
  const connected = url === null ? undefined : urlOf(gw);
  if (connected !== undefined && connected !== url) {
    const nextAction = `Set GW_URL to it, or log in to it: gw account login --url ${url} --profile <name>`;
    throw Failure.state('wrong_gateway', `${what} is for ${url}, and not for ${connected}.`, { nextAction });
  }
  const session = await sessionOf(gw);
  const { id } = session.standing.account;
  if (account !== null && id !== account) {
    const nextAction = 'Use a key of that account: gw account login --profile <name>, or GW_MANAGEMENT_KEY.';
    throw Failure.state('wrong_account', `${what} is for the account ${account}, and not for ${id}.`, { nextAction });
  }
  if (deploymentId !== undefined && session.capabilities.deployment.id !== deploymentId) {
    throw Failure.state('deployment_changed', `${what} was made with another deployment at ${session.url}.`, {
      nextAction: 'Make a new plan: gw plan <directory> --out <file>',
    });
  }
  return session;
}

/** As messages name it. */
export const environmentName = (environment: { readonly name: string } | undefined) =>
  `The environment "${environment?.name}"`;

/** Uses the matching saved gateway if none is named. @throws Failure several fit. */
function chooseProfile(gw: Invocation, { url, account }: Target): void {
  const { environment, profiles } = gw;
  if (url === null && account === null) return;
  const isNamed = [environment.url, environment.managementKey, environment.profile, gw.text('profile')];
  if (isNamed.some((name) => name !== undefined)) return;
  const fitting = profiles.names().filter((name) => {
    const profile = profiles.readable(name);
    const fits = (wanted: string | null, saved: string | null | undefined) => wanted === null || wanted === saved;
    return fits(url, profile?.url) && fits(account, profile?.accountId);
  });
  const [first, ...others] = fitting;
  if (first === undefined || fitting.includes(profiles.current())) return;
  if (others.length > 0) {
    const nextAction = 'Name one: --profile <name>';
    throw Failure.input('ambiguous', `Several saved gateways fit: ${fitting.join(', ')}.`, { nextAction });
  }
  gw.useProfile(first);
}
