import { resolve } from 'node:path';
import type { EntityManager } from 'typeorm';
import { type Clock, SystemClock } from '../common/clock.js';
import { errorText } from '../common/errors/error-text.js';
import type { Ids } from '../common/ids.js';
import { Log, type LogSink } from '../common/log/log.js';
import type { Secret } from '../common/log/secret.js';
import { SharedClock } from './clock/shared-clock.js';
import { type Environment, loadEnvironment } from './config/environment.js';
import { databaseProblem, dataDirProblem } from './config/start-problem.rules.js';
import { ConfigChanges } from './database/config-changes.js';
import { createDataSource, type EntityClass } from './database/data-source.js';
import { runMigrations } from './database/migrate.js';
import { MIGRATIONS } from './database/migration-list.js';
import { openBackgroundPool, openRequestPool } from './database/pools.js';
import { requireSessions } from './database/require-sessions.js';
import { retryUnreachable } from './database/retry-unreachable.js';
import { startEmbeddedPostgres } from './embedded-postgres/embedded-postgres.js';
import { InstanceRegistry } from './instances/instance-registry.js';
import { InstancesRepository } from './instances/instances.repository.js';
import { ownProcess } from './instances/own-process.js';
import { Metrics } from './metrics/metrics.js';
import { GuardedRequest } from './outbound/guarded-request.js';
import { OwnAddresses } from './outbound/own-addresses.js';
import type { PlatformParts } from './platform.module.js';
import { RedisConnection } from './redis/redis-connection.js';
import { RedisIdentity } from './redis/redis-identity.js';
import { authSecretsOf, tokenSecretsOf } from './secrets/signing-secrets.js';
import { createVault, ExtensionVault, type VaultFactory } from './vault/create-vault.js';
import { KeyCanaries } from './vault/key-canaries.js';
import { KeyCheckedVault } from './vault/key-checked-vault.js';
import type { SecretRows } from './vault/resealing.js';
import type { Vault } from './vault/vault.js';
import { isVaultMisconfiguration, readVaultSettings } from './vault/vault-settings.rules.js';
import { vaultEnvironmentWithKey } from './vault/vault-variables.js';

const INSTANCE_ID_LENGTH = 12;

/**
 * Connections of one process beside its request pool: background work, notifications, heartbeats, probes, migrations.
 */
const OTHER_CONNECTIONS = 9;
/** Connections of an embedded database reserved for other clients. */
const SPARE_CONNECTIONS = 30;

/** Statement timeout of heartbeats, which have their own connection; below the lease duration. */
const LIFE_STATEMENT_MS = 1_500;

type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

interface PlatformOptions {
  /** Replaces the shared clock, and with it the database time. */
  readonly clock?: Clock | undefined;
  readonly ids: Ids;
  readonly log: LogSink;
  /** What repositories map tables to; none when absent. */
  readonly entities?: readonly EntityClass[];
  /** The tables with sealed secrets, which show whether the vault's key is theirs; none when absent. */
  readonly storedSecrets?: (connection: EntityManager) => readonly SecretRows[];
  /** Replaces the vault of the settings. */
  readonly vault?: VaultFactory;
  /** Called with the settings before anything is opened; an error aborts the start. */
  readonly onSettings?: (environment: Environment) => void | Promise<void>;
}

/** The opened platform; `close` closes all of it. */
export interface OpenPlatform {
  readonly parts: PlatformParts;
  close(): Promise<void>;
}

interface Database {
  readonly url: Secret;
  readonly embedded: boolean;
  stop(): Promise<void>;
}

/**
 * Reads the settings, starts and migrates the database, and opens everything the modules need. A failing step closes
 * what was opened before it.
 *
 * @throws EnvironmentError for invalid settings, and for those that a failure of the system or of the database is about;
 * Error otherwise; any error of `onSettings`.
 */
export async function openPlatform(
  env: ProcessEnvironment,
  {
    clock: fixedClock,
    ids,
    log: sink,
    entities = [],
    storedSecrets = () => [],
    vault: makeVault,
    onSettings,
  }: PlatformOptions,
): Promise<OpenPlatform> {
  const environment = loadEnvironment(env);
  await onSettings?.(environment);
  const dataDir = resolve(environment.DATA_DIR);
  const metrics = new Metrics();
  const own = fixedClock ?? new SystemClock();
  const log = new Log(own, environment.LOG_LEVEL, sink, (name, fields) => metrics.logged(name, fields));
  const clock = new SharedClock({ own, follows: fixedClock === undefined, log });
  metrics.clockAhead.read = () => clock.ownAheadMs;
  const opened: (() => Promise<unknown>)[] = [];
  const close = async () => {
    // In reverse order; a failing close does not prevent the others.
    for (const end of opened.reverse()) await Promise.allSettled([end()]);
  };
  try {
    const database = await openDatabase(environment, ids, log);
    opened.push(database.stop);
    const { embedded } = database;
    const sources = { environment, embedded, dataDir, ids };
    const secrets = { tokenSecrets: tokenSecretsOf(sources), authSecrets: authSecretsOf(sources) };
    await migrate(environment, database, clock, log).catch((error: unknown) => {
      throw databaseProblem(error, { dataDir, embedded });
    });
    const { DATABASE_POOL_SIZE: size, DATABASE_TIMEOUT_MS: timeoutMs } = environment;
    const requests = await openRequestPool({ url: database.url, size, timeoutMs, entities, log });
    opened.push(() => requests.close());
    const { dataSource } = requests;
    const backgroundDataSource = await openBackgroundPool(database.url, entities);
    opened.push(() => backgroundDataSource.destroy());
    const ownVault = makeVault
      ? new ExtensionVault(await makeVault({ environment, ids, log }))
      : openVault(env, environment, embedded, ids, log);
    const vault = new KeyCheckedVault(ownVault);
    const trustedHosts = environment.TRUSTED_PRIVATE_HOSTS;
    const { metadataEntries } = trustedHosts;
    if (metadataEntries.length > 0) log.event('trusted_hosts_without_effect', { entries: metadataEntries.join(', ') });
    const ownAddresses = new OwnAddresses(environment.PUBLIC_URL);
    const outbound = new GuardedRequest({ trustedHosts, egress: environment, own: ownAddresses });
    opened.push(() => Promise.allSettled([vault.close(), outbound.close()]));
    const { tokenSecrets, authSecrets } = secrets;
    const signing = { JWT_SECRET: tokenSecrets.current, AUTH_SECRET: authSecrets.current };
    const canaries = new KeyCanaries({ vault, dataSource: backgroundDataSource, stored: storedSecrets, signing, log });
    await canaries.open();
    opened.push(async () => canaries.close());
    const configChanges = new ConfigChanges({
      url: database.url,
      onTrouble: (error) => log.event('config_changes_lost', { error: errorText(error) }),
    });
    configChanges.open();
    opened.push(() => configChanges.close());
    const redis = new RedisConnection({ url: environment.REDIS_URL, clock, log });
    redis.open();
    opened.push(async () => redis.close());
    const { instances, leave } = await openInstances(environment, database.url, {
      redis,
      ids,
      clock,
      log,
      ownAddresses,
    });
    opened.push(leave);
    metrics.instances.read = () => instances.live.length;
    const shared = { dataSource, backgroundDataSource, configChanges, redis, instances, vault, ...secrets };
    return {
      parts: { environment, clock, sharedClock: clock, ids, log, metrics, outbound, ownAddresses, ...shared },
      close,
    };
  } catch (error) {
    await close();
    throw dataDirProblem(error, dataDir);
  }
}

/**
 * The registry, on its own connection and in real time, because leases expire by the database clock. Not announced yet.
 */
async function openInstances(
  environment: Environment,
  url: Secret,
  parts: {
    readonly redis: RedisConnection;
    readonly ids: Ids;
    readonly clock: SharedClock;
    readonly log: Log;
    readonly ownAddresses: OwnAddresses;
  },
) {
  const connection = createDataSource({
    url,
    poolSize: 1,
    applicationName: 'gateway-instances',
    statementTimeoutMs: LIFE_STATEMENT_MS,
    entities: [],
    migrations: [],
  });
  await connection.initialize();
  const { redis, ids, clock, log, ownAddresses } = parts;
  const instances = new InstanceRegistry({
    id: ids.base36(INSTANCE_ID_LENGTH),
    instances: new InstancesRepository(connection),
    usesRedis: environment.REDIS_URL !== undefined,
    redis,
    redisMark: new RedisIdentity(redis, ids),
    clock: new SystemClock(),
    sharedClock: clock,
    log,
    listensAt: () => ownAddresses.announced,
    internalUrl: environment.INTERNAL_URL,
  });
  const { host: thisMachine } = ownProcess();
  instances.onHeartbeat(() => {
    const others = instances.live.filter(({ id }) => id !== instances.id);
    ownAddresses.othersListenAt(
      others.map(({ host, listensAt }) => ({ isOnThisMachine: host === thisMachine, listensAt })),
    );
  });
  const leave = async () => {
    await instances.release();
    await connection.destroy();
  };
  return { instances, leave };
}

/**
 * The operator's database, or an embedded one that runs until its last user stops it. Not connected yet.
 *
 * @throws EnvironmentError the data directory cannot be used; Error when the embedded database does not start.
 */
export async function openDatabase(environment: Environment, ids: Ids, log: Log): Promise<Database> {
  if (environment.DATABASE_URL) {
    return { url: environment.DATABASE_URL, embedded: false, stop: async () => {} };
  }
  const { DATA_DIR, DATABASE_POOL_SIZE, WORKERS } = environment;
  const maxConnections =
    WORKERS > 1 ? WORKERS * (DATABASE_POOL_SIZE + OTHER_CONNECTIONS) + SPARE_CONNECTIONS : undefined;
  const dataDir = resolve(DATA_DIR);
  const server = await startEmbeddedPostgres(dataDir, { maxConnections }, ids, {
    onLost: (directory) => log.event('database_embedded_lost', { directory }),
    onRestarted: (directory, adopted) => log.event('database_embedded_started', { adopted, directory }),
    onRestartFailed: (error, retryInMs) =>
      log.event('database_embedded_restart_failed', { error: errorText(error), retryInMs }),
  }).catch((error: unknown) => {
    throw dataDirProblem(error, dataDir);
  });
  log.event('database_embedded_started', { adopted: server.adopted, directory: server.directory });
  return { url: server.url, embedded: true, stop: () => server.stop() };
}

async function migrate(environment: Environment, { url, embedded }: Database, clock: Clock, log: Log): Promise<void> {
  const waitMs = environment.DATABASE_WAIT_SECONDS * 1000;
  if (!embedded) {
    const onWait = (_attempt: number, error: string) => log.event('database_waiting', { error });
    await retryUnreachable(() => requireSessions(url), { clock, waitMs, onWait });
  }
  await runMigrations({
    url,
    migrations: MIGRATIONS,
    clock,
    waitMs,
    onProgress: (progress) =>
      log.event('database_waiting', {
        error: progress.step === 'waiting_for_postgres' ? progress.reason : progress.step,
      }),
  });
}

function openVault(env: ProcessEnvironment, environment: Environment, embedded: boolean, ids: Ids, log: Log): Vault {
  const variables = embedded ? vaultEnvironmentWithKey(env, resolve(environment.DATA_DIR), ids) : env;
  const settings = readVaultSettings(variables);
  if (isVaultMisconfiguration(settings)) {
    log.event('secret_vault_misconfigured', { error: `${settings.variable} ${settings.problem}` });
  }
  return createVault(settings, ids, environment);
}
