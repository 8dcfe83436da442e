import { expect } from '@jest/globals';
import { FakeClock } from '../../clock.js';
import { RESPONSE } from '../../proxy/endpoint-chain.js';
import { type Answer, type CallOptions, type OpenCall, ProxyClient } from '../../proxy/proxy-client.js';
import { json } from '../../proxy/upstream-scripts.js';
import { startWorld, type World } from '../../world.js';

/** A refusal, as far as limits decide it. */
export interface LimitRefusal {
  readonly status: number;
  readonly code: string;
  readonly data: unknown;
  /** Seconds. */
  readonly retryAfter: number;
}

/** The longest answer asked for; what a call may cost at most goes by it. */
export const MAX_OUTPUT_TOKENS = 1_000;
const PATH = 'v1/responses';
const BODY = { model: 'gpt-4.1', max_output_tokens: MAX_OUTPUT_TOKENS };
/**
 * What it is taken to send, at 2 dollars per million tokens: what a call counts that was sent and never heard of again.
 */
export const SENT_USD = (Math.ceil(JSON.stringify(BODY).length / 4) * 2) / 1_000_000;
/** The same of a call whose answer began and was cut: all it may have generated, too. */
export const CUT_USD = SENT_USD + (MAX_OUTPUT_TOKENS * 8) / 1_000_000;
const NAMED_USERS = { type: 'api_key', end_user: { source: 'header' } };

/** Half a minute into a minute, in the middle of a day and of the month that Postgres keeps time in. */
function middayOfMonth(): Date {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 15, 12, 0, 30));
}

/** A service of its own, alone, whose clock the test moves. Stop the world in `afterAll`. */
export async function startLimitedWorld(
  env: Readonly<Record<string, string>> = {},
): Promise<{ world: World; clock: FakeClock }> {
  const clock = new FakeClock(middayOfMonth().getTime());
  return { clock, world: await startWorld({ clock, env: { REDIS_URL: '', ...env } }) };
}

/** A server application that names its users in a header, and its limits. Every call costs 0.006 dollars. */
export class LimitedApp {
  private constructor(
    private readonly world: World,
    readonly client: ProxyClient,
  ) {}

  static async create(world: World, limits: Record<string, unknown>): Promise<LimitedApp> {
    world.upstream.script(json(200, RESPONSE));
    return new LimitedApp(world, await ProxyClient.create(world, { authentication: NAMED_USERS, limits }));
  }

  /** An application that is there already. */
  static of(world: World, client: ProxyClient): LimitedApp {
    return new LimitedApp(world, client);
  }

  open(user = 'ann', options: CallOptions = {}): OpenCall {
    return this.client.open(PATH, { body: BODY, headers: ['x-end-user-id', user], ...options });
  }

  call(user = 'ann', options: CallOptions = {}): Promise<Answer> {
    return this.client.call(PATH, { body: BODY, headers: ['x-end-user-id', user], ...options });
  }

  /** Makes calls one after the other; their statuses. */
  async calls(count: number, user = 'ann'): Promise<number[]> {
    const statuses: number[] = [];
    for (let at = 0; at < count; at++) statuses.push((await this.call(user)).status);
    return statuses;
  }

  /** A call that a limit refuses, with what is told of it. */
  async refused(user = 'ann', options: CallOptions = {}): Promise<LimitRefusal> {
    return limitRefusalOf(await this.call(user, options));
  }

  /** Replaces the limits; the next call follows them. */
  async limit(limits: Record<string, unknown>): Promise<void> {
    const path = `/v1/admin/apps/${this.client.appId}`;
    const { name, config, revision } = (await this.world.api.get(path)).body.app;
    const { status, text } = await this.world.api.put(path, { name, config: { ...config, limits }, revision });
    if (status !== 200) throw new Error(`limits: ${status} ${text}`);
  }

  /** Events of this status once they count so many requests. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads members of an answer that the OpenAPI check proves
  async recorded(status: string, count = 1): Promise<any[]> {
    return this.client.events(count, `&status=${status}`);
  }

  /** What `/me` tells of a user. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads members of an answer that the OpenAPI check proves
  async standing(user = 'ann'): Promise<any> {
    const headers = { 'x-end-user-id': user };
    return (await this.world.as(this.client.key).get(`/v1/apps/${this.client.appId}/me`, { headers })).body.limits;
  }
}

/** Reads a refusal and proves its form: closed envelope, `data` of the scope alone. */
export function limitRefusalOf({ status, headers, body }: Answer): LimitRefusal {
  const { error, ...others } = JSON.parse(body.toString());
  const { code, message, data, ...more } = error;
  expect([others, more, typeof message]).toEqual([{}, {}, 'string']);
  expect(headers['server-timing']).toMatch(/limiter;dur=\d+\.\d, provider_ttfb;dur=0\.0$/);
  return { status, code, data, retryAfter: Number(headers['retry-after']) };
}

/** A refusal of a request limit. */
export const rateLimited = (scope: 'user' | 'app', retryAfter: number): LimitRefusal => ({
  ...{ status: 429, code: 'app_rate_limited', data: { scope }, retryAfter },
});

/** A refusal of a budget that is spent until its month ends. */
export const budgetExhausted = (scope: 'user' | 'app', retryAfter: number): LimitRefusal => ({
  ...{ status: 429, code: 'app_budget_exhausted', data: expect.objectContaining({ scope }) as unknown, retryAfter },
});
