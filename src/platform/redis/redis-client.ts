import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { keyOnEachMaster } from './cluster-slots.rules.js';
import type { RedisAddress, RedisHost } from './redis-address.rules.js';

/** A connection to one server, or to all masters of a cluster. */
export type RedisClient = Redis | Cluster;

/** The waits of a connection; tests that do not judge the speed of the machine use longer ones. */
export interface RedisTimeouts {
  /** Of a command; after it Redis counts as lost. */
  readonly commandMs: number;
  /** Of connecting, including authentication and a first write. */
  readonly connectMs: number;
  /** Of discovery on one of several hosts, before the next one is tried. */
  readonly discoveryMs: number;
}

const PROBE_KEY = 'gw:probe';
const PROBE_TTL_MS = 10_000;
/** Redirections per command: a slot may move while the cluster map is read. */
const MAX_REDIRECTIONS = 3;

/** One attempt each, no queues: the connection decides about waiting and retries. */
const DRIVER_OPTIONS = {
  lazyConnect: true,
  enableOfflineQueue: false,
  enableReadyCheck: false,
  autoResendUnfulfilledCommands: false,
  retryStrategy: null,
  disableClientInfo: true,
  disconnectTimeout: 0,
} as const;

/** A command that may have been executed is not sent again; only a redirection is followed. */
const CLUSTER_OPTIONS = {
  lazyConnect: true,
  enableOfflineQueue: false,
  enableReadyCheck: false,
  clusterRetryStrategy: () => null,
  maxRedirections: MAX_REDIRECTIONS,
  retryDelayOnFailover: 0,
  retryDelayOnClusterDown: 0,
  slotsRefreshInterval: 5_000,
} as const;

/**
 * A client that is not connected yet; it neither reconnects nor retries.
 *
 * @param attempt a counter; rotates which host of the address is tried first.
 */
export function createRedisClient(address: RedisAddress, attempt: number, { discoveryMs }: RedisTimeouts): RedisClient {
  const { tls, credentials, hosts } = address;
  const options = { ...DRIVER_OPTIONS, ...credentialOptions(credentials), ...(tls && { tls: {} }) };
  switch (address.kind) {
    case 'single':
      return new Redis({ ...options, ...hosts[0], db: address.database });
    case 'sentinel':
      return new Redis({ ...options, ...sentinelOptions(address, discoveryMs), sentinels: rotated(hosts, attempt) });
    case 'cluster':
      return new Cluster(rotated(hosts, attempt), {
        ...CLUSTER_OPTIONS,
        slotsRefreshTimeout: discoveryMs,
        // Hosts stay names, because certificates name them.
        dnsLookup: (name, found) => found(null, name),
        redisOptions: options,
      });
  }
}

/**
 * Probes every master with a write: a Redis that is full, loading or a replica answers pings and counts nothing.
 *
 * @throws the first error of a master.
 */
export function probe(client: RedisClient): Promise<unknown> {
  const keys =
    client instanceof Cluster
      ? keyOnEachMaster(
          client.slots.map(([master]) => master),
          `${PROBE_KEY}:`,
        )
      : [PROBE_KEY];
  if (keys.length === 0) return Promise.reject(new Error('the cluster has no masters'));
  return Promise.all(keys.map((key) => client.set(key, 1, 'PX', PROBE_TTL_MS)));
}

/** The error for the log. The driver nests the cause when it has tried several nodes. */
export function causeOf(error: unknown): unknown {
  return error instanceof Error && 'lastNodeError' in error && error.lastNodeError instanceof Error
    ? error.lastNodeError
    : error;
}

function sentinelOptions(
  { tls, name, database, sentinelCredentials: { username, password } }: Extract<RedisAddress, { kind: 'sentinel' }>,
  discoveryMs: number,
): RedisOptions {
  return {
    name,
    db: database,
    connectTimeout: discoveryMs,
    sentinelCommandTimeout: discoveryMs,
    sentinelRetryStrategy: () => null,
    ...(username !== '' && { sentinelUsername: username }),
    ...(password !== '' && { sentinelPassword: password }),
    ...(tls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
  };
}

function credentialOptions({ username, password }: RedisAddress['credentials']): RedisOptions {
  return { ...(username !== '' && { username }), ...(password !== '' && { password }) };
}

function rotated(hosts: readonly RedisHost[], attempt: number): RedisHost[] {
  const first = attempt % hosts.length;
  return [...hosts.slice(first), ...hosts.slice(0, first)];
}
