import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { type RunningGateway, type StartOptions, startGateway } from '../../src/bootstrap/start.js';
import { BackgroundDataSource } from '../../src/platform/database/pools.js';
import { ApiClient } from './api-client.js';
import { rawServerConfig } from './apps/app-configs.js';
import { OpenApiCheck } from './openapi/openapi-check.js';
import { dropDatabase, freshDatabase } from './platform/database.js';
import { type ScriptedUpstream, startUpstream } from './proxy/upstream.js';

/** A running service for one suite: real database, real HTTP, a scripted provider on the loopback. */
export interface World {
  readonly baseUrl: string;
  /** Where pages of its console come from. */
  readonly consoleOrigin: string;
  /** The check of answers against the service's own description. */
  readonly check: OpenApiCheck;
  /** Management calls with the owner's key; every answer is checked against the OpenAPI document. */
  readonly api: ApiClient;
  readonly managementKey: string;
  readonly databaseUrl: string;
  /** The service's own, for statements that no request waits for: tests store thousands of rows at once. */
  readonly dataSource: DataSource;
  /** The pool of requests, to be observed. */
  readonly requestDataSource: DataSource;
  readonly dataDir: string;
  readonly upstream: ScriptedUpstream;
  readonly gateway: RunningGateway;
  /** The settings it was started with. */
  readonly environment: Readonly<Record<string, string>>;
  /** Every log line so far, parsed. */
  readonly logs: Record<string, unknown>[];
  /** A client with another bearer, or none. */
  as(bearer: string | undefined): ApiClient;
  /** A client that sends these headers with every call. */
  with(headers: Readonly<Record<string, string>>): ApiClient;
  /** A provider of the given type whose base URL is the scripted upstream. */
  provider(overrides?: Record<string, unknown>): Promise<{ id: string; slug: string }>;
  /** A server application and its key. */
  app(config?: Record<string, unknown>): Promise<{ id: string; key: string }>;
  stop(): Promise<void>;
}

interface WorldOptions extends Omit<StartOptions, 'log'> {
  readonly env?: Readonly<Record<string, string>>;
}

/** 32 bytes, base64: the vault's key of every test world. */
const TEST_KEK = Buffer.alloc(32, 7).toString('base64');

/** Signs the gateway tokens of every test world. */
export const TEST_JWT_SECRET = 'a-secret-of-the-tests-and-nobody-else';

/** Signs the cookies of every test world. */
export const TEST_AUTH_SECRET = 'another-secret-of-the-tests-and-nobody-else';

export function newManagementKey(): string {
  return `gw_mgmt_${randomBytes(24).toString('hex')}`;
}

/** For a way to the database that a suite breaks: requests wait as long as in production. */
export const PRODUCTION_DATABASE_TIMEOUT = { DATABASE_TIMEOUT_MS: '' };

/**
 * Settings of a test service on the loopback, all secrets given. It uses the Redis of the run, if there is one. Its
 * requests have patience with Postgres: the machine of a run may stand still for seconds.
 */
export function testEnvironment(databaseUrl: string, dataDir: string, managementKey: string): Record<string, string> {
  return {
    HOST: '127.0.0.1',
    PORT: '0',
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
    DATABASE_TIMEOUT_MS: '15000',
    SECRET_VAULT_MODE: 'local',
    SECRET_VAULT_LOCAL_KEK_V1: TEST_KEK,
    JWT_SECRET: TEST_JWT_SECRET,
    AUTH_SECRET: TEST_AUTH_SECRET,
    BOOTSTRAP_MANAGEMENT_KEY: managementKey,
    TRUSTED_PRIVATE_HOSTS: '127.0.0.1',
    // The vendor's list is not on the loopback.
    ANDROID_REVOCATION_LIST: 'off',
    REDIS_URL: process.env.REDIS_URL ?? '',
    STOP_DELAY_SECONDS: '0',
    DRAIN_TIMEOUT_SECONDS: '2',
  };
}

/** Where pages of the console of a service with these settings come from. */
export function consoleOriginOf({ PUBLIC_URL }: Readonly<Record<string, string>>, baseUrl: string): string {
  return PUBLIC_URL ?? baseUrl;
}

/** A service with routes or provider types of its own is described by its own document alone. */
async function checkOf(baseUrl: string, { imports, providerTypes, env }: WorldOptions): Promise<OpenApiCheck> {
  const isExtended = imports !== undefined || providerTypes !== undefined || env?.SIMULATED_PROVIDER !== undefined;
  if (!isExtended) return OpenApiCheck.ofService();
  return OpenApiCheck.of(await (await fetch(`${baseUrl}/openapi.json`)).json());
}

/** Starts a service for one suite. Stop it in `afterAll`. */
export async function startWorld({ env = {}, ...options }: WorldOptions = {}): Promise<World> {
  const { REDIS_URL: redisUrl = process.env.REDIS_URL ?? '' } = env;
  const databaseUrl = await freshDatabase(redisUrl !== '');
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-world-'));
  const managementKey = newManagementKey();
  const upstream = await startUpstream();
  const logs: Record<string, unknown>[] = [];
  const clean = async () => {
    await upstream.close();
    await dropDatabase(databaseUrl);
    rmSync(dataDir, { recursive: true, force: true });
  };
  const ownWay = env.DATABASE_URL === undefined ? {} : PRODUCTION_DATABASE_TIMEOUT;
  const environment = { ...testEnvironment(databaseUrl, dataDir, managementKey), ...ownWay, ...env };
  const gateway = await startGateway(environment, {
    ...options,
    log: (line) => logs.push(JSON.parse(line)),
  }).catch(async (error: unknown) => {
    await clean();
    throw error;
  });
  const baseUrl = gateway.url;
  const check = await checkOf(baseUrl, { env, ...options });
  const as = (bearer: string | undefined) => new ApiClient(baseUrl, check, bearer);
  const api = as(managementKey);
  let providers = 0;
  return {
    baseUrl,
    consoleOrigin: consoleOriginOf(environment, baseUrl),
    check,
    api,
    managementKey,
    databaseUrl,
    dataSource: gateway.app.get(BackgroundDataSource),
    requestDataSource: gateway.app.get(DataSource),
    dataDir,
    upstream,
    gateway,
    environment,
    logs,
    as,
    with: (headers) => new ApiClient(baseUrl, check, undefined, headers),
    async provider(overrides = {}) {
      const body = {
        type: 'openai',
        name: `Provider ${++providers}`,
        secret: 'sk-test-provider-secret',
        baseUrl: `${upstream.url}/`,
        ...overrides,
      };
      const answer = await api.post('/v1/admin/providers', body);
      if (answer.status !== 201) throw new Error(`provider: ${answer.status} ${answer.text}`);
      return answer.body.provider;
    },
    async app(config = {}) {
      const answer = await api.post('/v1/admin/apps', {
        name: 'Test app',
        config: { ...rawServerConfig(), ...config },
      });
      if (answer.status !== 201) throw new Error(`app: ${answer.status} ${answer.text}`);
      return { id: answer.body.app.id, key: answer.body.api_key?.key };
    },
    async stop() {
      await gateway.stop('test');
      await clean();
    },
  };
}
