import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { budgetPeriodOf } from '../../../src/budgets/budget-period.rules.js';
import { dropDatabase, freshDatabase } from '../../support/platform/database.js';
import { freePort, GatewayProcess, programEnvironment } from '../../support/platform/gateway-process.js';
import { startRedis, type TestRedis } from '../../support/platform/redis.js';
import { startTcpProxy, type TcpProxy } from '../../support/platform/tcp-proxy.js';
import { seeded } from '../../support/seeded.js';
import { newManagementKey, PRODUCTION_DATABASE_TIMEOUT, testEnvironment } from '../../support/world.js';
import { INPUT_NANO_USD, OUTPUT_NANO_USD, PaidCalls } from './paid-calls.js';
import { type PaidProvider, startPaidProvider } from './paid-provider.js';

const VERIFY_LEDGER = fileURLToPath(new URL('../../../dist/src/commands/verify-ledger.js', import.meta.url));
const CLIENTS = 256;
export const MODEL = 'proof-model';
/** Its tokens all cost the same, so that a limit of tokens is an amount of money. */
const EVEN_MODEL = 'proof-model-of-even-price';
export const USER_HEADER = 'x-proof-user';

const USER_WINDOWS = ['day', 'week', 'month'] as const;
const APP_WINDOWS = ['day', 'week', 'month', 'total'] as const;
const MEMBERS = { day: 'daily_usd', week: 'weekly_usd', month: 'monthly_usd', total: 'total_usd' } as const;
/** A proof takes less. */
const NEAR_MIDNIGHT_MS = 60 * 60 * 1_000;

/**
 * Each application has its budgets in other windows, so that a proof covers all of them; near their end, in none that
 * ends.
 */
function windowAt(windows: readonly (keyof typeof MEMBERS)[], at: number): keyof typeof MEMBERS {
  return (isNearMidnight() ? undefined : windows[at % windows.length]) ?? 'month';
}

function moneyLimit(window: keyof typeof MEMBERS, nanoUsd = 0) {
  return { window, config: { spending: { [MEMBERS[window]]: nanoUsd / 1e9 } } } as const;
}

/** Of tokens by day and by minute in turn. @param nanoUsd what they cost. */
function tokenLimit(at: number, nanoUsd = 0) {
  const isByMinute = isNearMidnight() || at % 2 === 1;
  const tokens = { [isByMinute ? 'per_minute' : 'per_day']: nanoUsd / INPUT_NANO_USD };
  return { window: isByMinute ? 'minute_tokens' : 'day_tokens', config: { tokens } } as const;
}

function isNearMidnight(): boolean {
  return budgetPeriodOf('day', Date.now()).endMs - Date.now() < NEAR_MIDNIGHT_MS;
}

/** One process of the service, with its own connection to Postgres. */
export interface FleetInstance {
  readonly process: GatewayProcess;
  readonly database: TcpProxy;
}

/** An application of a proof. */
export interface FleetApp {
  readonly id: string;
  readonly key: string;
  /** The header that names whose budget a call counts against, besides the application's. */
  readonly header: string;
  readonly model: string;
  /** The rate of its model for the tokens of answers. */
  readonly outputNanoUsd: number;
}

/** The subjects in a proof: users, groups of the backend, or runs; `tokens`: what is limited is their tokens. */
const SHARERS = {
  user: { header: USER_HEADER, isOfTokens: false },
  group: { header: 'x-team', isOfTokens: false },
  run: { header: 'x-run-id', isOfTokens: false },
  tokens: { header: USER_HEADER, isOfTokens: true },
  group_tokens: { header: 'x-team', isOfTokens: true },
} as const;

export type Sharer = keyof typeof SHARERS;

/** Several processes of the service with one Postgres, a Redis of their own and one provider that knows every price. */
export class BudgetFleet {
  private providerId = '';
  private apps = 0;

  private constructor(
    readonly calls: PaidCalls,
    readonly provider: PaidProvider,
    readonly instances: readonly FleetInstance[],
    readonly redis: TestRedis,
    readonly database: pg.Pool,
    private readonly environment: Readonly<Record<string, string>>,
    private readonly directory: string,
    private readonly managementKey: string,
  ) {}

  static async start(seed: number, size = 2): Promise<BudgetFleet> {
    const calls = new PaidCalls();
    const databaseUrl = await freshDatabase();
    const redis = await startRedis();
    const directory = mkdtempSync(join(tmpdir(), 'gateway-budgets-'));
    const managementKey = newManagementKey();
    const environment = {
      ...testEnvironment(databaseUrl, join(directory, 'ledger'), managementKey),
      REDIS_URL: redis.url,
      LOG_LEVEL: 'warn',
      PROVIDER_MAX_CONNECTIONS: String(CLIENTS),
    };
    const { hostname, port } = new URL(databaseUrl);
    const instances: FleetInstance[] = [];
    for (let at = 0; at < size; at++) {
      const database = await startTcpProxy({ host: hostname, port: Number(port || 5432) });
      const url = new URL(databaseUrl);
      url.host = `127.0.0.1:${database.port}`;
      const own = { ...PRODUCTION_DATABASE_TIMEOUT, DATABASE_URL: url.href, DATA_DIR: join(directory, String(at)) };
      const process = new GatewayProcess(`http://127.0.0.1:${await freePort()}`, { ...environment, ...own });
      instances.push({ process, database });
    }
    const provider = await startPaidProvider(calls, seeded(seed));
    const pool = new pg.Pool({ connectionString: databaseUrl, max: 4 });
    const fleet = new BudgetFleet(calls, provider, instances, redis, pool, environment, directory, managementKey);
    // The next run of a proof, whose seed is a thousand higher, has its budgets in other windows.
    fleet.apps = Math.floor(seed / 1_000);
    try {
      // The first one creates the account; the others find it.
      for (const { process } of instances) await process.start();
      const { provider } = await fleet.manage('POST', '/v1/admin/providers', fleet.providerSettings());
      fleet.providerId = provider.id;
    } catch (error) {
      await fleet.end();
      throw error;
    }
    return fleet;
  }

  /**
   * A server application with a budget for each user, for itself, or both; in whole nano-dollars.
   *
   * @param sharer groups or runs in place of users, or tokens, also of the application, in place of money.
   */
  async app(
    perUser: number | undefined,
    perApp: number | undefined,
    users: readonly string[],
    sharer: Sharer = 'user',
  ): Promise<FleetApp> {
    const { header, isOfTokens } = SHARERS[sharer];
    const at = this.apps++;
    const window = sharer === 'user' ? windowAt(USER_WINDOWS, at) : windowAt(APP_WINDOWS, at);
    const [ofSharer, ofApp] = isOfTokens
      ? [tokenLimit(at, perUser), tokenLimit(at, perApp)]
      : [moneyLimit(window, perUser), moneyLimit(windowAt(APP_WINDOWS, at), perApp)];
    const ofRun = { window: 'run', config: { max_usd: (perUser ?? 0) / 1e9 } } as const;
    const limits = {
      user: { per_user: ofSharer.config },
      tokens: { per_user: ofSharer.config },
      group: { groups: { team: { header, ...ofSharer.config } } },
      group_tokens: { groups: { team: { header, ...ofSharer.config } } },
      run: { runs: ofRun.config },
    };
    const { app, api_key } = await this.manage('POST', '/v1/admin/apps', {
      name: 'Proof',
      config: {
        authentication: { type: 'api_key', end_user: { source: 'header', header: USER_HEADER } },
        routing: { providers: { mode: 'all' }, model_rewrites: {} },
        limits: {
          ...(perUser !== undefined && limits[sharer]),
          ...(perApp !== undefined && { per_app: ofApp.config }),
        },
      },
    });
    if (perApp !== undefined) this.calls.budget({ appId: app.id, userId: '', window: ofApp.window, nanoUsd: perApp });
    const { window: ofEach } = sharer === 'run' ? ofRun : ofSharer;
    for (const userId of perUser === undefined ? [] : users) {
      this.calls.budget({ appId: app.id, userId, window: ofEach, nanoUsd: perUser ?? 0 });
    }
    const kind = isOfTokens
      ? { model: EVEN_MODEL, outputNanoUsd: INPUT_NANO_USD }
      : { model: MODEL, outputNanoUsd: OUTPUT_NANO_USD };
    return { id: app.id, key: api_key.key, header, ...kind };
  }

  /** From now on everything costs this many times the usual price. @param at the instance that gets the request. */
  async price(factor: number, at: number): Promise<void> {
    await this.manage('PUT', `/v1/admin/providers/${this.providerId}`, { pricing: pricingOf(factor) }, at);
  }

  private providerSettings(): Record<string, unknown> {
    const baseUrl = `${this.provider.url}/`;
    return { type: 'openai', name: 'Paid', slug: 'paid', secret: 'sk-of-the-proof', baseUrl, pricing: pricingOf(1) };
  }

  // biome-ignore lint/suspicious/noExplicitAny: an answer whose shape other suites prove
  async manage(method: string, path: string, body?: unknown, at = 0): Promise<any> {
    const answer = await fetch(`${this.at(at).process.baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.managementKey}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  at(number: number): FleetInstance {
    const instance = this.instances[number];
    if (instance === undefined) throw new Error(`no instance ${number}`);
    return instance;
  }

  /** Kills one without notice. */
  async kill(number: number): Promise<void> {
    this.calls.killed(number);
    await this.at(number).process.kill();
  }

  async query<T extends object>(sql: string, parameters: readonly unknown[] = []): Promise<T[]> {
    return (await this.database.query<T>(sql, [...parameters])).rows;
  }

  /** Cuts every connection of the service to Postgres, from the side of Postgres. */
  async cutSessions(): Promise<void> {
    await this.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name LIKE 'gateway%' AND pid <> pg_backend_pid()`,
    );
  }

  /** Lets all of them finish. */
  async stop(): Promise<void> {
    await Promise.all(this.instances.map(({ process }) => process.stop()));
  }

  /** The findings of `verify-ledger`, empty if there is no difference. */
  async ledgerDifferences(): Promise<string[]> {
    const child = spawn(process.execPath, [VERIFY_LEDGER, '--json'], {
      env: programEnvironment(this.environment),
    });
    const [out, trouble, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    if (code === 0) return [];
    return [`verify-ledger ended with ${code}: ${out.slice(0, 2_000)}${trouble}`];
  }

  /** Takes everything away. */
  async end(): Promise<void> {
    for (const { process } of this.instances) await process.kill();
    await this.provider.close();
    for (const { database } of this.instances) await database.close();
    await this.database.end();
    await this.redis.stop();
    await dropDatabase(this.environment.DATABASE_URL ?? '');
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** In dollars per million tokens. */
function pricingOf(factor: number): object {
  return { [MODEL]: { input: 2 * factor, output: 8 * factor }, [EVEN_MODEL]: { input: 2, output: 2 } };
}
