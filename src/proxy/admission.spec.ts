import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { FakeClock } from '../../test/support/clock.js';
import { rejectionOf } from '../../test/support/rejection-of.js';
import { anAdmission } from '../../test/support/usage.js';
import type { Caller } from '../client-auth/caller.js';
import { RequestTimings } from '../common/http/request-timings.js';
import type { Ready } from '../common/when-ready.js';
import type { UsageRefusals } from '../usage/usage-refusals.service.js';
import type { BlockedUsers } from '../users/blocked-users.js';
import { CallAdmission } from './admission.js';

const BLOCKED = { code: 'auth_required', status: 403, reason: 'user_blocked', message: 'This user is blocked.' };
const event = anAdmission({ userId: 'ann' });

let clock: FakeClock;
let timings: RequestTimings;
let noted: unknown[];

beforeEach(() => {
  clock = new FakeClock();
  timings = new RequestTimings();
  noted = [];
});

/** @param isBlocked answers after 3 ms of the clock. */
function admit(userId: string | null, isBlocked: () => Ready<boolean>): Ready<void> {
  const blockedUsers: Partial<BlockedUsers> = {
    isBlocked: () => {
      clock.advance(3);
      return isBlocked();
    },
  };
  const refusals: Partial<UsageRefusals> = { note: (...refusal) => void noted.push(refusal) };
  const admission = new CallAdmission(blockedUsers as BlockedUsers, refusals as UsageRefusals, clock);
  const caller: Partial<Caller> = { userId };
  const request = { raw: new IncomingMessage(new Socket()), method: 'POST', headers: {}, timings };
  return admission.requireAllowed(caller as Caller, event, request);
}

describe('admission (contract-app 1.2, step 9)', () => {
  it('known to be let through → at once, without a promise; limiter marked, nothing recorded', () => {
    expect(admit('ann', () => false)).toBeUndefined();
    expect([timings.limiterMs, noted]).toEqual([3, []]);
  });

  it('contract-app 3.3: known to be blocked → refused at once with 403 auth_required, and recorded', () => {
    expect(() => admit('ann', () => true)).toThrow(expect.objectContaining(BLOCKED));
    expect([timings.limiterMs, noted]).toEqual([3, [[event, 'blocked_user']]]);
  });

  it('not known yet → the same, when it is', async () => {
    await admit('ann', async () => false);
    expect(noted).toEqual([]);
    const refused = admit('ann', async () => true);
    expect(await rejectionOf(Promise.resolve(refused))).toMatchObject(BLOCKED);
    expect([timings.limiterMs, noted]).toEqual([3, [[event, 'blocked_user']]]);
  });

  it('cannot be known → fails as the look-up failed; limiter marked, nothing recorded', async () => {
    const refused = admit('ann', () => Promise.reject(new Error('away')));
    expect(await rejectionOf(Promise.resolve(refused))).toEqual(new Error('away'));
    expect([timings.limiterMs, noted]).toEqual([3, []]);
  });

  it('a call that belongs to nobody → nobody is asked', () => {
    expect(admit(null, () => true)).toBeUndefined();
    expect([timings.limiterMs, noted]).toEqual([0, []]);
  });
});
