import { GatewayError } from '../../../../src/common/errors/gateway-error.js';
import type { LimitedCall, RequestCounts } from '../../../../src/limits/requests/request-counting.js';
import type { RequestLimits } from '../../../../src/limits/requests/request-limits.service.js';

/** Limits of a call; what is not named is without limit. */
export interface TestLimits {
  readonly user?: Partial<RequestCounts>;
  readonly app?: Partial<RequestCounts>;
}

/** A call of an application. */
export function aCall(appId: string, userId: string | null, { user, app }: TestLimits): LimitedCall {
  const full = (counts: Partial<RequestCounts> | undefined) => counts && { perMinute: null, perDay: null, ...counts };
  return { organizationId: 'org-1', appId, userId, user: full(user), app: full(app) };
}

/** The outcome of calls: how many passed, and how many were refused for which reason. */
export interface Outcomes {
  passed: number;
  readonly refused: Record<string, number>;
}

/** How one call ends: `passed`, or the reason of its refusal. */
export async function outcomeOf(limits: RequestLimits, call: LimitedCall): Promise<string> {
  try {
    await limits.admit(call);
    return 'passed';
  } catch (error) {
    if (error instanceof GatewayError) return error.reason ?? error.code;
    throw error;
  }
}

/** Makes so many calls at once. */
export async function burst(limits: RequestLimits, call: LimitedCall, calls: number): Promise<Outcomes> {
  const ended = await Promise.all(Array.from({ length: calls }, () => outcomeOf(limits, call)));
  return counted(ended);
}

/** Sums outcomes up. */
function counted(ended: readonly string[]): Outcomes {
  const refused: Record<string, number> = {};
  for (const reason of ended) if (reason !== 'passed') refused[reason] = (refused[reason] ?? 0) + 1;
  return { passed: ended.filter((one) => one === 'passed').length, refused };
}
