import type { Action } from '../program/command.js';
import { Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { listed } from '../program/lists.js';
import { KEY_STAYS_VALID } from '../state/profiles.js';

/** `gw profile list` */
export const list: Action = async (gw) => {
  const { profiles } = gw;
  const current = profiles.current();
  const saved = profiles.names().map((name) => {
    const profile = profiles.readable(name);
    const { url = null, accountId = null, key = null } = profile ?? {};
    return { name, current: name === current, url, accountId, key, damaged: profile === undefined };
  });
  const rows = saved.map((one) => [
    one.current ? '*' : '',
    one.name,
    one.damaged ? `damaged; forget it: gw profile remove ${one.name}` : (one.url ?? '-'),
    one.accountId ?? '-',
    one.key ?? 'none',
  ]);
  const none = 'No gateway is saved. Connect one: gw deployment connect';
  return listed(gw, { profiles: saved }, { headings: ['', 'PROFILE', 'GATEWAY', 'ACCOUNT', 'KEY'], rows, none });
};

/** `gw profile use` */
export const use: Action = async (gw) => {
  const name = gw.argument(0);
  requireSaved(gw, name);
  gw.profiles.use(name);
  const url = gw.profiles.readable(name)?.url;
  const isOverruled = gw.environment.profile !== undefined && gw.environment.profile !== name;
  const note = isOverruled ? `\nGW_PROFILE is set and takes precedence: ${gw.environment.profile}.` : '';
  return { result: { profile: name }, text: `Using "${name}"${url === undefined ? '' : ` (${url})`}.${note}` };
};

/** `gw profile rename` */
export const rename: Action = async (gw) => {
  const [before, name] = [gw.argument(0), gw.argument(1)];
  requireSaved(gw, before);
  if (gw.profiles.has(name)) {
    const nextAction = `Give another name, or forget that one: gw profile remove ${name}`;
    throw Failure.input('profile_exists', `There is already a profile "${name}".`, { nextAction });
  }
  await gw.profiles.rename(before, name);
  return { result: { profile: name, before }, text: `Renamed "${before}" to "${name}".` };
};

/** `gw profile remove` */
export const remove: Action = async (gw) => {
  const name = gw.argument(0);
  requireSaved(gw, name);
  const hasKey = await gw.profiles.hasKey(name);
  const kept = hasKey ? ` Its key stays valid; to revoke it, stop and use: gw account logout --profile ${name}` : '';
  await gw.confirm(`Forget the profile "${name}"?${kept}`);
  const wasCurrent = gw.profiles.current() === name;
  await gw.profiles.remove(name);
  const next = wasCurrent && gw.profiles.names().length > 0 ? '\nChoose another one: gw profile use <profile>' : '';
  const valid = hasKey ? `\n${KEY_STAYS_VALID}` : '';
  return { result: { profile: name, forgotValidKey: hasKey }, text: `Forgot "${name}".${valid}${next}` };
};

function requireSaved({ profiles }: Invocation, name: string): void {
  if (profiles.has(name)) return;
  const nextAction = 'See them: gw profile list';
  throw Failure.input('profile_not_found', `There is no profile "${name}".`, { nextAction });
}
