import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { created } from '../../support/accounts/management-call.js';
import { eventually } from '../../support/eventually.js';
import { dropDatabase, freshDatabase } from '../../support/platform/database.js';
import { freePort, GatewayProcess } from '../../support/platform/gateway-process.js';
import { startRedis, type TestRedis } from '../../support/platform/redis.js';
import { type ScriptedUpstream, startUpstream } from '../../support/proxy/upstream.js';
import { newManagementKey, testEnvironment } from '../../support/world.js';

const RECEIVER = fileURLToPath(new URL('./receiver-process.ts', import.meta.url));
/** Different accounts of one receiver: instances share the work by webhook. */
const WEBHOOKS = 4;
const DRAINED_WITHIN_MS = 300_000;

/** A request that the receiver got. */
export interface Arrival {
  readonly id: string;
  /** Tells webhooks apart. */
  readonly path: string;
  /** Milliseconds since the Unix epoch. */
  readonly arrivedMs: number;
  readonly body: string;
}

/** Two instances and a receiver, each a process that can be killed, and what they share. */
export class WebhookFleet {
  private receiver: ChildProcess | undefined;

  private constructor(
    readonly instances: readonly GatewayProcess[],
    readonly database: pg.Pool,
    readonly managementKey: string,
    private readonly databaseUrl: string,
    private readonly directory: string,
    private readonly redis: TestRedis,
    private readonly upstream: ScriptedUpstream,
    private readonly receiverPort: number,
  ) {}

  static async start(): Promise<WebhookFleet> {
    const directory = mkdtempSync(join(tmpdir(), 'gateway-webhooks-'));
    const [databaseUrl, redis, upstream] = [await freshDatabase(), await startRedis(), await startUpstream()];
    const managementKey = newManagementKey();
    const instances: GatewayProcess[] = [];
    for (let at = 0; at < 2; at++) {
      const environment = testEnvironment(databaseUrl, join(directory, String(at)), managementKey);
      const settings = { ...environment, REDIS_URL: redis.url, LOG_LEVEL: 'warn' };
      instances.push(new GatewayProcess(`http://127.0.0.1:${await freePort()}`, settings));
    }
    const database = new pg.Pool({ connectionString: databaseUrl, max: 2 });
    const fleet = new WebhookFleet(
      ...[instances, database, managementKey, databaseUrl, directory, redis, upstream, await freePort()],
    );
    await fleet.startReceiver();
    for (const instance of instances) await instance.start();
    await created(fleet, '/v1/admin/providers', {
      ...{ type: 'openai', name: 'OpenAI', slug: 'openai', secret: 'sk-proof-1234', baseUrl: upstream.url },
    });
    return fleet;
  }

  get baseUrl(): string {
    return this.instances[0]?.baseUrl ?? '';
  }

  /** @param events the types that the proof causes. */
  async addWebhooks(events: readonly string[]): Promise<void> {
    for (let at = 0; at < WEBHOOKS; at++) {
      await created(this, '/v1/admin/webhooks', { url: `http://127.0.0.1:${this.receiverPort}/${at}`, events });
    }
  }

  async startReceiver(): Promise<void> {
    const args = [RECEIVER, `--port=${this.receiverPort}`, `--file=${this.file}`];
    this.receiver = spawn(process.execPath, ['--no-warnings', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    if (this.receiver.stdout !== null) await once(this.receiver.stdout, 'data');
  }

  async killReceiver(): Promise<void> {
    const { receiver } = this;
    if (receiver === undefined) return;
    const ended = once(receiver, 'exit');
    receiver.kill('SIGKILL');
    await ended;
  }

  /** Every request that the receiver recorded; the last line of a killed one may be incomplete. */
  arrivals(): Arrival[] {
    if (!existsSync(this.file)) return [];
    const lines = readFileSync(this.file, 'utf8').split('\n');
    return lines.flatMap((line) => (line.endsWith('}') ? [JSON.parse(line)] : []));
  }

  /** Until everything is delivered. Advances the time for retries, which otherwise wait for minutes. */
  async drained(): Promise<void> {
    const left = "SELECT FROM webhook_deliveries WHERE status = 'pending'";
    await eventually(
      async () => {
        await this.database.query(
          "UPDATE webhook_deliveries SET next_attempt_at = now() WHERE status = 'pending' AND next_attempt_at > now() + interval '1 second'",
        );
        await new Promise((resolve) => setTimeout(resolve, 500));
        return (await this.database.query(left)).rowCount === 0;
      },
      { withinMs: DRAINED_WITHIN_MS },
    );
  }

  async stop(): Promise<void> {
    for (const instance of this.instances) await instance.kill();
    await this.killReceiver();
    await this.upstream.close();
    await this.database.end();
    await this.redis.stop();
    await dropDatabase(this.databaseUrl);
    rmSync(this.directory, { recursive: true, force: true });
  }

  private get file(): string {
    return join(this.directory, 'arrivals');
  }
}
