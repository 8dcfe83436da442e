import { setTimeout as sleep } from 'node:timers/promises';
import { sineWav } from '../../support/proxy/wav.js';
import type { BudgetFleet } from '../budgets/budget-fleet.js';

const USER_HEADER = 'x-soak-user';
const USERS = 500;
const LARGE_BODY_BYTES = 1024 * 1024;
/** Between two calls of a client: the machine has other work while an hour passes. */
const MOST_PAUSE_MS = 150;
/**
 * Every answer that is promised while providers, Redis and Postgres fail, and clients err. 0: the connection was cut.
 */
const PROMISED = new Set([0, 200, 201, 400, 401, 403, 404, 409, 429, 500, 502, 503, 504]);

interface SoakApp {
  readonly id: string;
  readonly key: string;
}

interface Request {
  readonly user: string;
  readonly path: string;
  readonly body: string | FormData;
  /** Leaves after this many milliseconds. */
  readonly leavesAfterMs?: number;
}

/** Mixed traffic on all instances of a fleet, by chance, until told to stop. */
export class SoakTraffic {
  readonly answers: Record<string, number> = {};
  readonly violations: string[] = [];
  private sent = 0;
  private isOver = false;

  private constructor(
    private readonly fleet: BudgetFleet,
    private readonly app: SoakApp,
    private readonly random: () => number,
  ) {}

  static async prepare(fleet: BudgetFleet, providerUrl: string, random: () => number): Promise<SoakTraffic> {
    for (const slug of ['steady', 'flaky']) {
      const baseUrl = `${providerUrl}/${slug}/`;
      await fleet.manage('POST', '/v1/admin/providers', {
        type: 'openai',
        name: slug,
        slug,
        secret: 'sk-soak-1',
        baseUrl,
      });
    }
    const target = { provider: 'flaky', model: 'gpt-4.1', fallback: [{ provider: 'steady', model: 'gpt-4.1' }] };
    const { app, api_key } = await fleet.manage('POST', '/v1/admin/apps', {
      name: 'Soak',
      config: {
        authentication: { type: 'api_key', end_user: { source: 'header', header: USER_HEADER } },
        routing: { providers: { mode: 'all' }, model_rewrites: {} },
        limits: {
          per_user: { requests: { per_minute: 1_000, per_day: 1_000_000 }, spending: { monthly_usd: 100_000 } },
          per_app: { requests: { per_minute: 100_000 }, spending: { monthly_usd: 1_000_000 } },
        },
        endpoints: {
          answers: { api_style: 'responses', params: { temperature: 0.5 }, max_output_tokens: 100, ...target },
          recordings: { api_style: 'transcription', provider: 'steady', model: 'gpt-4o-mini-transcribe', fallback: [] },
        },
      },
    });
    return new SoakTraffic(fleet, { id: app.id, key: api_key.key }, random);
  }

  get appId(): string {
    return this.app.id;
  }

  stop(): void {
    this.isOver = true;
  }

  async call(): Promise<void> {
    while (!this.isOver) {
      await this.post({ ...this.request(), key: this.app.key });
      await sleep(this.random() * MOST_PAUSE_MS);
    }
  }

  /** Wrong keys, unknown applications, forbidden paths: refusals must leave nothing behind. */
  async err(): Promise<void> {
    const wrong = [
      { path: `/v1/apps/${this.app.id}/proxy/steady/v1/chat/completions`, key: 'gw_wrong' },
      { path: '/v1/apps/nobody/proxy/steady/v1/chat/completions', key: this.app.key },
      { path: `/v1/apps/${this.app.id}/proxy/steady/v1/files`, key: this.app.key },
      { path: `/v1/apps/${this.app.id}/endpoints/missing`, key: this.app.key },
    ];
    for (let at = 0; !this.isOver; at++) {
      const one = wrong[at % wrong.length];
      const body = '{"model":"gpt-4.1","messages":[]}';
      if (one !== undefined) await this.post({ user: 'u0', body, ...one });
      await sleep(50);
    }
  }

  /** The console: lists, reports, an application that is created, changed and deleted. */
  async manage(): Promise<void> {
    const { fleet, app } = this;
    const reads = [
      'usage',
      'usage/timeseries',
      'usage/breakdown?by=model',
      'events?limit=50',
      'users?limit=50',
      'check',
    ];
    const config = {
      authentication: { type: 'api_key' },
      routing: { providers: { mode: 'all' }, model_rewrites: {} },
    };
    for (let round = 0; !this.isOver; round++) {
      const at = round % fleet.instances.length;
      await this.tried(async () => {
        for (const read of reads) await fleet.manage('GET', `/v1/admin/apps/${app.id}/${read}`, undefined, at);
        const made = await fleet.manage('POST', '/v1/admin/apps', { name: `Round ${round}`, config }, at);
        const { id, revision } = made.app;
        await fleet.manage('PUT', `/v1/admin/apps/${id}`, { name: 'Changed', config, revision }, at);
        await fleet.manage('POST', `/v1/admin/apps/${id}/keys`, { name: 'soak' }, at);
        await fleet.manage('DELETE', `/v1/admin/apps/${id}?confirm=${id}`, undefined, at);
      });
      await sleep(500);
    }
  }

  /** A management call fails while Postgres is away, and for no other reason. */
  private async tried(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.count('managed');
    } catch (error) {
      const isAway = String(error).includes(': 503 ') || error instanceof TypeError;
      this.count(isAway ? 'managed 503' : 'managed wrong');
      if (!isAway) this.violations.push(String(error));
    }
  }

  private request(): Request {
    const user = `u${Math.floor(this.random() * USERS)}`;
    const marker = `soak-${user}-${++this.sent}`;
    const proxy = (path: string) => `/v1/apps/${this.app.id}/proxy/steady/${path}`;
    const chat = (members: object) => JSON.stringify({ model: 'gpt-4.1', messages: [message(marker)], ...members });
    const chance = this.random();
    if (chance < 0.4) return { user, path: proxy('v1/chat/completions'), body: chat({ max_tokens: 50 }) };
    if (chance < 0.65) return { user, path: proxy('v1/chat/completions'), body: chat({ stream: true }) };
    if (chance < 0.72) {
      const leavesAfterMs = this.random() * 60;
      return { user, path: proxy('v1/chat/completions'), body: chat({ stream: true }), leavesAfterMs };
    }
    if (chance < 0.92) {
      const stream = this.random() < 0.5;
      const body = JSON.stringify({ input: marker, stream });
      return { user, path: `/v1/apps/${this.app.id}/endpoints/answers`, body };
    }
    if (chance < 0.96) {
      const body = JSON.stringify({ model: 'text-embedding-3-small', input: marker });
      return { user, path: proxy('v1/embeddings'), body };
    }
    if (chance < 0.98) {
      return { user, path: proxy('v1/chat/completions'), body: chat({ user: 'x'.repeat(LARGE_BODY_BYTES) }) };
    }
    const form = new FormData();
    form.set('prompt', marker);
    form.set('file', new Blob([new Uint8Array(sineWav({ seconds: 1 }))]), 'soak.wav');
    return { user, path: `/v1/apps/${this.app.id}/endpoints/recordings`, body: form };
  }

  private async post({ user, path, key, body, leavesAfterMs }: Request & { readonly key: string }): Promise<void> {
    const instance = this.fleet.at(Math.floor(this.random() * this.fleet.instances.length));
    const signal = leavesAfterMs === undefined ? undefined : AbortSignal.timeout(Math.ceil(leavesAfterMs));
    const headers = {
      authorization: `Bearer ${key}`,
      [USER_HEADER]: user,
      ...(typeof body === 'string' && { 'content-type': 'application/json' }),
    };
    let status = 0;
    try {
      const answer = await fetch(instance.process.baseUrl + path, {
        ...{ method: 'POST', headers, body },
        ...(signal !== undefined && { signal }),
      });
      status = answer.status;
      await answer.arrayBuffer();
    } catch {
      status = status === 0 ? 0 : -status;
    }
    this.count(String(status));
    if (!PROMISED.has(Math.abs(status))) this.violations.push(`${path}: ${status}`);
  }

  private count(kind: string): void {
    this.answers[kind] = (this.answers[kind] ?? 0) + 1;
  }
}

function message(marker: string): object {
  return { role: 'user', content: marker };
}
