import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { rawServerConfig } from '../../../test/support/apps/app-configs.js';
import { FakeClock, sharedClockOf } from '../../../test/support/clock.js';
import { CountedBudgets } from '../../../test/support/proxy/counted-holds.js';
import { rejectionOf } from '../../../test/support/rejection-of.js';
import { anAdmission } from '../../../test/support/usage/recording/usage.js';
import { requireReadable, toAppSnapshot } from '../../app-directory/app-snapshot.js';
import { parseAppConfig } from '../../app-directory/config/app-config.js';
import type { BudgetRuns } from '../../budgets/budget-runs.js';
import type { Budgets } from '../../budgets/budgets.service.js';
import type { Caller } from '../../client-auth/callers/caller.js';
import type { ErrorCode, RefusalCode } from '../../common/errors/error-catalogue.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { RequestTimings } from '../../common/http/gateway-request.js';
import type { MaybePromise } from '../../common/maybe-promise.js';
import type { Entitlements } from '../../limits/plans/entitlements.js';
import type { LimitedCall } from '../../limits/requests/request-counting.js';
import type { RequestLimits } from '../../limits/requests/request-limits.service.js';
import type { RefusedStatus } from '../../usage/recording/usage-event.js';
import type { UsageRefusals } from '../../usage/recording/usage-refusals.service.js';
import type { BlockedUsers } from '../../users/blocked-users.js';
import { CallAdmission, type CallHolds } from './call-admission.js';
import { type CallSubjects, NO_SUBJECTS } from './call-subjects.rules.js';

const event = anAdmission({ userId: 'ann' });
const row = { id: 'notes-abc123', organizationId: 'org-1', status: 'active' } as const;
const BUDGET = { spending: { monthly_usd: 5 } };
const EVERYTHING = {
  per_user: { requests: { per_minute: 2, per_day: 9 }, ...BUDGET },
  per_app: { requests: { per_minute: 20 }, ...BUDGET },
};

/** Results of the other checks: an error is thrown, or rejected when `isSlow`. */
interface Answers {
  block?: boolean | Error;
  plan?: Error;
  exhausted?: 'user' | 'app';
  user?: Error;
  requests?: Error;
}

let clock: FakeClock;
let timings: RequestTimings;
let budgets: CountedBudgets;
/** The checks in call order. */
let asked: string[];
let noted: unknown[];
let answers: Answers;
let isSlow: boolean;

beforeEach(() => {
  clock = new FakeClock();
  timings = new RequestTimings();
  budgets = new CountedBudgets();
  [asked, noted, answers, isSlow] = [[], [], {}, false];
});

/** Advances the clock by one millisecond per check. */
function ask<T>(name: string, answer: T | Error): MaybePromise<T> {
  asked.push(name);
  clock.advance(1);
  if (isSlow) return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  if (answer instanceof Error) throw answer;
  return answer;
}

function admit(
  limits: object | undefined,
  userId: string | null = 'ann',
  subjects: CallSubjects = NO_SUBJECTS,
): Promise<CallHolds> {
  const end_user = { source: 'header', header: 'x-end-user-id' };
  const authentication = { type: 'api_key', ...(userId === null ? {} : { end_user }) };
  const raw = { ...rawServerConfig(), authentication, limits };
  const app = requireReadable(toAppSnapshot(row, { config: parseAppConfig(raw), configError: null }));
  const blockedUsers: Partial<BlockedUsers> = { isBlocked: () => ask('block', answers.block ?? false) };
  const entitlements: Partial<Entitlements> = {
    admitCall: () => ask('plan', answers.plan) as undefined,
    withdrawCall: () => void asked.push('plan again'),
  };
  const requests: Partial<RequestLimits> = {
    admit: (call) => ask(`requests ${scopesOf(call)}`, answers.requests) as undefined,
    requireUser: () => ask('user alone', answers.user) as undefined,
  };
  const runs: Partial<BudgetRuns> = {
    join: ({ runId, appId, organizationId, maxNanoUsd }) => {
      const ofRun = { scope: 'run', subject: runId, window: 'run', limit: maxNanoUsd } as const;
      return Promise.resolve({ budget: { organizationId, appId, ...ofRun }, begunNanoUsd: 7 });
    },
  };
  const refusals: Partial<UsageRefusals> = { note: (...refusal) => void noted.push(refusal) };
  budgets.isSlow = isSlow;
  if (answers.exhausted !== undefined) budgets.exhausted.add(answers.exhausted);
  const admission = new CallAdmission(
    blockedUsers as BlockedUsers,
    entitlements as Entitlements,
    budgets as unknown as Budgets,
    runs as BudgetRuns,
    requests as RequestLimits,
    refusals as UsageRefusals,
    sharedClockOf(clock),
  );
  const caller: Partial<Caller> = { app, userId };
  const request = { raw: new IncomingMessage(new Socket()), method: 'POST', headers: {}, timings };
  return admission.admit(caller as Caller, { event, maxCostNanoUsd: 70, maxTokens: 500, subjects }, request);
}

function scopesOf({ user, app }: LimitedCall): string {
  const told = [user && `user ${user.perMinute}/${user.perDay}`, app && `app ${app.perMinute}/${app.perDay}`];
  return told.filter((text) => text !== undefined).join(', ');
}

const refusal = (code: ErrorCode): GatewayError => new GatewayError(code as RefusalCode);
const rejection = (limits: object): Promise<unknown> => rejectionOf(admit(limits));

describe.each([
  ['at hand', false],
  ['to be waited for', true],
] as const)('admission, answers %s', (_name, slow) => {
  beforeEach(() => {
    isSlow = slow;
  });

  it('everything is limited → checked in order, held, counted once; the mark `limiter` covers all of it', async () => {
    const holds = await admit(EVERYTHING);
    expect(holds.map(({ budget, amount }) => [budget.subject, budget.limit, amount])).toEqual([
      ['ann', 5_000_000_000, 70],
      ['', 5_000_000_000, 70],
    ]);
    expect(asked).toEqual(['block', 'plan', 'requests user 2/9, app 20/null']);
    expect([budgets.told, noted, timings.limiterMs]).toEqual([['hold user 70', 'hold app 70'], [], 3]);
  });

  it.each<[string, Answers, ErrorCode, RefusedStatus, readonly string[]]>([
    ['a blocked user', { block: true }, 'auth_required', 'blocked_user', ['block']],
    [
      'an account without a plan',
      { plan: refusal('billing_payment_required') },
      'billing_payment_required',
      'blocked_billing',
      ['block', 'plan'],
    ],
    [
      'a used up plan',
      { plan: refusal('billing_request_quota_exceeded') },
      'billing_request_quota_exceeded',
      'blocked_billing',
      ['block', 'plan'],
    ],
    [
      'an exhausted user',
      { exhausted: 'user' },
      'app_budget_exhausted',
      'blocked_app_budget',
      ['block', 'plan', 'plan again'],
    ],
    [
      'too many requests',
      { requests: refusal('app_rate_limited') },
      'app_rate_limited',
      'blocked_app_rate',
      ['block', 'plan', 'requests user 2/9, app 20/null', 'plan again'],
    ],
  ])('%s → refused, recorded, nothing held, nothing counted', async (_what, given, code, status, expected) => {
    answers = given;
    expect(await rejection(EVERYTHING)).toMatchObject({ code });
    expect(noted).toEqual([[event, expect.objectContaining({ status, code })]]);
    expect(asked).toEqual(expected);
    expect(budgets.told.filter((told) => told.startsWith('hold')).length).toBe(
      budgets.told.filter((told) => told.startsWith('release')).length,
    );
    expect(timings.limiterMs).toBeGreaterThan(0);
  });

  it('the application is exhausted and the user has too many requests → the user comes first', async () => {
    answers = { exhausted: 'app', user: refusal('app_rate_limited') };
    expect(await rejection(EVERYTHING)).toMatchObject({ code: 'app_rate_limited' });
    expect(asked).toEqual(['block', 'plan', 'user alone', 'plan again']);
    expect([budgets.told, noted]).toEqual([
      ['hold user 70', 'release user'],
      [[event, expect.objectContaining({ status: 'blocked_app_rate' })]],
    ]);
  });

  it('only the application is exhausted → refused for it, and the user’s hold is released', async () => {
    answers = { exhausted: 'app' };
    expect(await rejection(EVERYTHING)).toMatchObject({ code: 'app_budget_exhausted', data: { scope: 'app' } });
    expect([budgets.told, noted]).toEqual([
      ['hold user 70', 'release user'],
      [[event, expect.objectContaining({ status: 'blocked_app_budget' })]],
    ]);
  });

  it.each<[string, Answers]>([
    ['who is blocked', { block: new Error('away') }],
    ['the plan', { plan: refusal('billing_unavailable') }],
    ['what was counted', { requests: refusal('service_unavailable') }],
  ])('%s is unknown → refused, but not recorded; nothing held', async (_what, given) => {
    answers = given;
    expect(await rejection(EVERYTHING)).toBeInstanceOf(Error);
    expect(noted).toEqual([]);
    expect(budgets.told.join()).toMatch(/^$|^hold user 70,hold app 70,release user,release app$/);
  });

  it('a call without a user → only the application’s limits', async () => {
    const holds = await admit({ per_app: EVERYTHING.per_app }, null);
    expect([holds.length, asked]).toEqual([1, ['plan', 'requests app 20/null']]);
  });
});
