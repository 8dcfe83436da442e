import { read } from '../api/client.js';
import { sessionOf } from '../api/session.js';
import type { Action } from '../program/command.js';
import { Failure } from '../program/failure.js';
import { facts } from '../terminal/table.js';

/** `gw account status` */
export const status: Action = async (gw) => {
  const { url, standing } = await sessionOf(gw);
  const { account } = standing;
  return { result: standing, text: facts({ Gateway: url, Account: account.name, Id: account.id }) };
};

/** `gw account logout`: the key is revoked first, so that a failure leaves it usable. */
export const logout: Action = async (gw) => {
  if (gw.environment.managementKey !== undefined) {
    const nextAction = 'Unset GW_MANAGEMENT_KEY, or revoke that key in the console.';
    throw Failure.input('key_of_environment', 'The key of the environment is not saved by gw.', { nextAction });
  }
  const { api } = await sessionOf(gw);
  await read(api.DELETE('/v1/cli/credential'));
  gw.profiles.forgetKey(gw.profileName);
  return { result: { profile: gw.profileName, revoked: true }, text: 'Logged out. The key is revoked.' };
};
