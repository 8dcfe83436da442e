import type { Redis } from 'ioredis';
import type { RedisConnection } from '../../../platform/redis/redis-connection.js';
import type { LimitedWindow } from '../counts/call-windows.js';
import type { AppCounts, WindowCount } from '../counts/scope-counts.js';
import { counterKey, markKey } from './counter-keys.rules.js';
import { COUNT_REQUESTS, COUNT_REQUESTS_SHA } from './request-script.js';

/** Maximum requests per script run, which blocks Redis. */
const MOST_AT_ONCE = 100;
/** TTL of a counter from its first call on; instances whose clocks are behind still use it. */
const LIFE_MS = { minute: 3 * 60_000, day: 2 * 86_400_000 } as const;

type Scripted = Pick<Redis, 'eval' | 'evalsha'>;

/** One request for the script. */
export interface ScriptRequest {
  readonly app: AppCounts;
  /** Windows of the calling user. */
  readonly ofUser: readonly LimitedWindow[];
  /** Windows of the application. */
  readonly ofApp: readonly LimitedWindow[];
  /** False for a check. */
  readonly counts: boolean;
}

/** Receives the script's reply to one request; `undefined` without one. */
type Answered = (reply: readonly number[] | undefined) => void;

/** Requests that one script run counts: they share the application's windows, as these were when the run began. */
class ScriptRun {
  readonly keys: string[];
  readonly answered: Answered[] = [];
  numbers: string;
  private readonly indexes: readonly number[];
  private readonly bases: readonly number[];

  constructor(
    private readonly namespace: string,
    private readonly app: AppCounts,
    private readonly windows: readonly LimitedWindow[],
    /** To set where the application has none yet. */
    mark: number,
  ) {
    this.indexes = windows.map(({ window }) => window.index);
    this.bases = windows.map(({ window }) => window.base);
    this.keys = [markKey(namespace, app.appId)];
    this.numbers = `${app.mark} ${mark} ${windows.length}`;
    for (const window of windows) this.addCounter(window);
  }

  /** Whether there is room for a request with these windows of the application. */
  takes(ofApp: readonly LimitedWindow[]): boolean {
    if (this.answered.length === MOST_AT_ONCE || ofApp.length !== this.windows.length) return false;
    return ofApp.every(({ window, limit }, at) => this.isSame(window, limit, at));
  }

  add({ ofUser, counts }: ScriptRequest, answered: Answered): void {
    this.numbers += ` ${counts ? 1 : 0} ${ofUser.length}`;
    for (const window of ofUser) this.addCounter(window);
    this.answered.push(answered);
  }

  private isSame(window: WindowCount, limit: number, at: number): boolean {
    const first = this.windows[at];
    if (first?.window !== window || first.limit !== limit) return false;
    return this.indexes[at] === window.index && this.bases[at] === window.base;
  }

  private addCounter({ scope, kind, limit, window }: LimitedWindow): void {
    this.keys.push(counterKey(this.namespace, this.app.appId, { kind, index: window.index, digest: scope.digest }));
    this.numbers += ` ${limit} ${window.base} ${window.seen} ${LIFE_MS[kind]}`;
  }
}

/**
 * Counts the requests of one event loop turn together at its end: those of one application with one script run. A run
 * of its own for each request costs 10 µs more, for its command, promise, timer and reply. No request waits longer than
 * its turn.
 */
export class ScriptBatch {
  private waiting = new Map<AppCounts, ScriptRun>();

  /** @param namespace of the counters of this deployment and epoch. @param newMark for an application without one. */
  constructor(
    private readonly redis: RedisConnection,
    private readonly namespace: string,
    private readonly newMark: () => number,
  ) {}

  /** @returns the script's reply; `undefined` without one. */
  add(request: ScriptRequest): Promise<readonly number[] | undefined> {
    return new Promise((answered) => {
      if (this.waiting.size === 0) setImmediate(() => this.run());
      this.runFor(request).add(request, answered);
    });
  }

  /** The waiting run of the application; a full or different one is sent. */
  private runFor({ app, ofApp }: ScriptRequest): ScriptRun {
    const waiting = this.waiting.get(app);
    if (waiting?.takes(ofApp)) return waiting;
    if (waiting !== undefined) void this.send(waiting);
    const run = new ScriptRun(this.namespace, app, ofApp, app.mark || this.newMark());
    this.waiting.set(app, run);
    return run;
  }

  private run(): void {
    const { waiting } = this;
    this.waiting = new Map();
    for (const run of waiting.values()) void this.send(run);
  }

  private async send({ keys, numbers, answered }: ScriptRun): Promise<void> {
    const replies = await this.redis.runNow((client) => evalScript(client, keys, numbers));
    const each: unknown[] = Array.isArray(replies) ? replies : [];
    for (const [at, answer] of answered.entries()) answer(asNumbers(each[at]));
  }
}

/** Runs the script by its digest, and by its text when Redis does not have it cached. */
async function evalScript(client: Scripted, keys: readonly string[], numbers: string): Promise<unknown> {
  try {
    return await client.evalsha(COUNT_REQUESTS_SHA, keys.length, ...keys, numbers);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return client.eval(COUNT_REQUESTS, keys.length, ...keys, numbers);
  }
}

/** Undefined for an unexpected reply, which is handled as no reply. */
function asNumbers(reply: unknown): readonly number[] | undefined {
  return Array.isArray(reply) && reply.every(Number.isSafeInteger) ? reply : undefined;
}
