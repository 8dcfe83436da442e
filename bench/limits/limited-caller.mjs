/** Applications whose users and requests are limited, so high that nothing is refused, and those who call them. */
import { addApp, chatPathOf } from '../gateway.mjs';
import { bearer, requireAnswer } from '../party.mjs';

export const USER_HEADER = 'x-user';
export const NAMED_USERS = { type: 'api_key', end_user: { source: 'header', header: USER_HEADER } };
const AMPLE = { requests: { per_minute: 1_000_000_000, per_day: 1_000_000_000 }, spending: { monthly_usd: 1_000_000 } };
/** Both windows and a budget, of each user and of the application. */
export const AMPLE_LIMITS = { per_user: AMPLE, per_app: AMPLE };

/**
 * An application with users, and a party that calls it for one user a connection.
 *
 * @param {{ pid: number, port: number, workerPids?: number[], manage: Function }} gateway
 * @param {object} [limits] none when absent
 */
export async function addCaller(gateway, name, limits) {
  const { appId, appKey } = await addApp(gateway, NAMED_USERS, {}, limits);
  const { pid, port, workerPids } = gateway;
  const where = { pid, port, workerPids, path: chatPathOf(appId), headers: bearer(appKey) };
  await requireAnswer({ ...where, headers: { ...where.headers, [USER_HEADER]: 'user-0' } });
  return { name, ...where, appId, userHeader: USER_HEADER };
}
