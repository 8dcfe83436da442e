import { Agent, type IncomingMessage, request } from 'node:http';
import type { BudgetScope } from '../../../src/budgets/budget-hold.js';
import type { BudgetWindow } from '../../../src/budgets/budget-period.rules.js';
import { type BudgetFleet, type FleetApp, USER_HEADER } from './budget-fleet.js';
import { INPUT_NANO_USD, type PaidCall, type Treatment } from './paid-calls.js';

/** The longest that a client waits for an answer. */
const PATIENCE_MS = 20_000;

/** One call to be made. */
export interface CallPlan {
  readonly app: FleetApp;
  readonly userId: string;
  readonly instance: number;
  readonly mostTokens: number;
  readonly isStream?: boolean;
  readonly treatment?: Treatment;
  /** The client disconnects this many milliseconds after it has sent the call. */
  readonly leavesAfterMs?: number;
}

const MOST_HELD_SECONDS = 10;

/** Whether a budget or a limit of tokens refused it. */
export function isRefusedByBudget({ code, window }: PaidAnswer): boolean {
  const isOfTokens = window === 'day_tokens' || window === 'minute_tokens';
  return code === 'app_budget_exhausted' || (code === 'app_rate_limited' && isOfTokens);
}

/**
 * Whether it was refused until the period ends, not until running calls end. A total and a run have no end, so no
 * `Retry-After`.
 */
export function isRefusedAsSpent(answer: PaidAnswer): boolean {
  const { window, retryAfter } = answer;
  if (!isRefusedByBudget(answer)) return false;
  return retryAfter > MOST_HELD_SECONDS || ((window === 'total' || window === 'run') && retryAfter === 0);
}

/** How a call ended for its client. */
export interface PaidAnswer {
  readonly call: PaidCall;
  /** 0: there was no answer, or not all of it. */
  readonly status: number;
  readonly code?: string;
  /** The owner of the limit that refused it. */
  readonly scope?: BudgetScope;
  readonly window?: BudgetWindow;
  /** Seconds; 0 if absent. */
  readonly retryAfter: number;
  readonly tookMs: number;
}

/** Makes calls of a proof, and reports what is known about them. */
export class PaidClient {
  private readonly agent = new Agent({ keepAlive: true });
  private made = 0;

  constructor(private readonly fleet: BudgetFleet) {}

  async call(plan: CallPlan): Promise<PaidAnswer> {
    const { calls } = this.fleet;
    const { app, userId, instance, mostTokens, isStream = false } = plan;
    const marker = `call-${++this.made}-${app.id}`;
    const body = JSON.stringify({
      model: app.model,
      stream: isStream,
      max_completion_tokens: mostTokens,
      messages: [{ role: 'user', content: marker }],
    });
    const call: PaidCall = {
      ...{ marker, appId: app.id, userId, instance, mostTokens, isStream, treatment: plan.treatment },
      outputNanoUsd: app.outputNanoUsd,
      bodyBytes: body.length,
      worst: body.length * INPUT_NANO_USD + mostTokens * app.outputNanoUsd,
      sent: Math.ceil(body.length / 4) * INPUT_NANO_USD,
      sentAtMs: performance.now(),
      wasLeft: false,
      wasKilled: false,
      seen: 0,
    };
    calls.add(call);
    const answer = await this.exchange(call, plan, body);
    const tookMs = performance.now() - call.sentAtMs;
    const isWhole = answer.isComplete || call.charge?.least === call.charge?.most;
    calls.ended(call, isWhole && !call.wasLeft);
    if (tookMs > PATIENCE_MS) calls.violations.push(`${marker} had no end after ${tookMs} ms`);
    return { call, tookMs, ...answer };
  }

  close(): void {
    this.agent.destroy();
  }

  private exchange(
    call: PaidCall,
    { app, leavesAfterMs }: CallPlan,
    body: string,
  ): Promise<Omit<PaidAnswer, 'call' | 'tookMs'> & { isComplete: boolean }> {
    const { hostname, port } = new URL(this.fleet.at(call.instance).process.baseUrl);
    return new Promise((resolve) => {
      const broken = () => resolve({ status: 0, retryAfter: 0, isComplete: false });
      const outgoing = request({
        ...{ hostname, port, method: 'POST', agent: this.agent, timeout: PATIENCE_MS },
        path: `/v1/apps/${app.id}/proxy/paid/v1/chat/completions`,
        headers: {
          'content-type': 'application/json',
          'content-length': body.length,
          authorization: `Bearer ${app.key}`,
          'x-app-version': call.marker,
          [USER_HEADER]: call.userId,
          [app.header]: call.userId,
        },
      });
      const timer =
        leavesAfterMs === undefined
          ? undefined
          : setTimeout(() => {
              call.wasLeft = true;
              outgoing.destroy();
            }, leavesAfterMs);
      outgoing.on('timeout', () => outgoing.destroy());
      outgoing.on('error', broken);
      outgoing.on('close', () => clearTimeout(timer));
      outgoing.on('response', (message) => {
        void read(message).then((text) => {
          clearTimeout(timer);
          if (text === undefined) return broken();
          const retryAfter = Number(message.headers['retry-after'] ?? 0);
          resolve({ status: message.statusCode ?? 0, retryAfter, isComplete: true, ...refusalIn(text) });
        });
      });
      outgoing.end(body);
    });
  }
}

/** @returns undefined if it breaks off. */
function read(message: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  message.on('data', (part: Buffer) => parts.push(part));
  message.on('error', () => undefined);
  return new Promise((resolve) => {
    message.once('close', () => resolve(message.complete ? Buffer.concat(parts).toString() : undefined));
  });
}

function refusalIn(text: string): Pick<PaidAnswer, 'code' | 'scope' | 'window'> {
  if (!text.startsWith('{"error"')) return {};
  const { code, data } = JSON.parse(text).error;
  const window = data?.limit === 'tokens' ? `${data.window}_tokens` : data?.window;
  return { code, scope: data?.scope, window };
}
