import type { LimitedCall } from '../request-limits/request-counting.js';
import type { Caller } from './caller.js';

/**
 * A caller's call in the form of request limits.
 *
 * @returns undefined when its requests are not limited.
 */
export function limitedCallOf({ app, userId }: Pick<Caller, 'app' | 'userId'>): LimitedCall | undefined {
  const ofUser = userId === null ? undefined : app.limits?.user?.requests;
  const ofApp = app.limits?.app?.requests;
  if (ofUser === undefined && ofApp === undefined) return undefined;
  return { organizationId: app.organizationId, appId: app.id, userId, user: ofUser, app: ofApp };
}
