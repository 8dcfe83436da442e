import { resolve } from 'node:path';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createGateway, type GatewayOptions } from './app.setup.js';
import { type Clock, SystemClock } from './common/clock.js';
import { drainServer } from './common/http/drain-server.js';
import { type Ids, SystemIds } from './common/ids.js';
import { Log, type LogSink } from './common/log/log.js';
import type { Secret } from './common/log/secret.js';
import { BootstrapService } from './identity/bootstrap.service.js';
import { type Environment, loadEnvironment } from './platform/config/environment.js';
import { ConfigChanges } from './platform/database/config-changes.js';
import { createDataSource } from './platform/database/data-source.js';
import { startEmbeddedPostgres } from './platform/database/embedded-postgres.js';
import { runMigrations } from './platform/database/migrate.js';
import { MIGRATIONS } from './platform/database/migration-list.js';
import { GuardedRequest } from './platform/outbound/guarded-request.js';
import type { PlatformParts } from './platform/platform.module.js';
import { createVault } from './platform/vault/create-vault.js';
import { vaultEnvironmentWithKey } from './platform/vault/generated-vault-key.js';
import type { Vault } from './platform/vault/vault.js';
import { isVaultMisconfiguration, readVaultSettings } from './platform/vault/vault-settings.rules.js';

const VERSION = '0.1.0';

/** What a caller may put in place of the real thing. */
export interface StartOptions {
  readonly log: LogSink;
  readonly clock?: Clock;
  readonly ids?: Ids;
  /** Rooms of an extension. */
  readonly imports?: GatewayOptions['imports'];
}

/** A service that answers requests. */
export interface RunningGateway {
  readonly app: NestFastifyApplication;
  /** Where it listens, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** For the person who started it. */
  readonly banner: string;
  /** Drains open responses, writes what is recorded and ends everything; safe to call again. */
  stop(signal: string): Promise<void>;
}

type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Starts everything in order: settings, database, migrations, vault, application, listener.
 *
 * @param env usually `process.env`.
 * @throws EnvironmentError for settings that do not hold; Error where the database cannot be had.
 */
export async function startGateway(env: ProcessEnvironment, options: StartOptions): Promise<RunningGateway> {
  const environment = loadEnvironment(env);
  const clock = options.clock ?? new SystemClock();
  const ids = options.ids ?? new SystemIds();
  const log = new Log(clock, environment.LOG_LEVEL, options.log);
  const instanceId = ids.base36(12);
  const database = await openDatabase(environment, ids, log);
  try {
    const dataSource = await connect(environment, database.url, clock, log);
    const configChanges = new ConfigChanges({
      url: database.url,
      onTrouble: (error) =>
        log.event('config_changes_lost', { error: error instanceof Error ? error.message : 'unknown' }),
    });
    const vault = openVault(env, environment, database.embedded, ids, log);
    const outbound = new GuardedRequest({ trustedHosts: environment.TRUSTED_PRIVATE_HOSTS });
    const parts: PlatformParts = { environment, clock, ids, log, dataSource, configChanges, vault, outbound };
    const app = await createGateway({
      parts,
      publicUrl: environment.PUBLIC_URL ?? `http://localhost:${environment.PORT}`,
      imports: options.imports,
    });
    configChanges.open();
    await app.init();
    const bootstrap = app.get(BootstrapService);
    await bootstrap.run();
    await app.listen(environment.PORT, environment.HOST);
    const url = await app.getUrl();
    log.event('gateway_started', { instanceId, url, version: VERSION, node: process.versions.node });
    const stop = stopOnce(async (signal) => {
      const server = app.getHttpServer();
      log.event('gateway_stopping', { instanceId, signal });
      await drainServer(server, environment.DRAIN_TIMEOUT_SECONDS * 1000, clock);
      await app.close();
      await Promise.allSettled([configChanges.close(), dataSource.destroy(), vault.close(), outbound.close()]);
      await database.stop();
      log.event('gateway_stopped', { instanceId });
    });
    return { app, url, banner: banner(url, await bootstrap.hasAnyAccount()), stop };
  } catch (error) {
    await database.stop();
    throw error;
  }
}

interface Database {
  readonly url: Secret;
  readonly embedded: boolean;
  stop(): Promise<void>;
}

async function openDatabase(environment: Environment, ids: Ids, log: Log): Promise<Database> {
  if (environment.DATABASE_URL) {
    return { url: environment.DATABASE_URL, embedded: false, stop: async () => {} };
  }
  const server = await startEmbeddedPostgres(resolve(environment.DATA_DIR), {}, ids);
  log.event('database_embedded_started', { adopted: server.adopted, directory: server.directory });
  return { url: server.url, embedded: true, stop: () => server.stop() };
}

async function connect(environment: Environment, url: Secret, clock: Clock, log: Log) {
  await runMigrations({
    url,
    migrations: MIGRATIONS,
    clock,
    waitMs: environment.DATABASE_WAIT_SECONDS * 1000,
    onProgress: (progress) =>
      log.event('database_waiting', {
        error: progress.step === 'waiting_for_postgres' ? progress.reason : progress.step,
      }),
  });
  const dataSource = createDataSource({
    url,
    poolSize: environment.DATABASE_POOL_SIZE,
    applicationName: 'gateway',
    entities: [],
    migrations: MIGRATIONS,
  });
  return dataSource.initialize();
}

function openVault(env: ProcessEnvironment, environment: Environment, embedded: boolean, ids: Ids, log: Log): Vault {
  const variables = embedded ? vaultEnvironmentWithKey(env, resolve(environment.DATA_DIR), ids) : env;
  const settings = readVaultSettings(variables);
  if (isVaultMisconfiguration(settings)) {
    log.event('secret_vault_misconfigured', { error: `${settings.variable} ${settings.problem}` });
  }
  return createVault(settings, ids);
}

function stopOnce(stop: (signal: string) => Promise<void>): (signal: string) => Promise<void> {
  let stopping: Promise<void> | undefined;
  return (signal) => {
    stopping ??= stop(signal);
    return stopping;
  };
}

function banner(url: string, hasAccount: boolean): string {
  const firstAccount = hasAccount
    ? ''
    : `
  There is no account yet. Stop the gateway and start it once with a management key of your choice:
    BOOTSTRAP_MANAGEMENT_KEY=gw_mgmt_<48 random letters and digits> npm start
`;
  return `
  The gateway is ready.
    API          ${url}
    Description  ${url}/openapi.json
    Health       ${url}/v1/healthz
${firstAccount}
`;
}
