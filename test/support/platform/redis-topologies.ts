import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../eventually.js';
import { freePort } from './gateway-process.js';
import { connectedTo, startRedis, type TestRedis } from './redis.js';

/** How long a cluster may take to agree on who serves what, and sentinels on who is master. */
const FORMED_MS = 20_000;
/** A server that is silent for this long counts as gone. */
const GONE_MS = 1_000;
const SLOTS = 16_384;
const MASTERS = 3;
const SENTINELS = 3;

/** What sentinels call the master of a suite. */
export const MASTER_NAME = 'main';

/** Three masters that share the slots, and a replica of the first. */
export type TestCluster = Awaited<ReturnType<typeof startRedisCluster>>;

/** A master with a replica, and three sentinels that watch them. */
export type WatchedRedis = Awaited<ReturnType<typeof startWatchedRedis>>;

/** Starts a cluster on the loopback. @param options of every server. */
export function startRedisCluster(options: readonly string[] = []) {
  return startTogether(async (servers) => {
    const buses: number[] = [];
    for (let index = 0; index <= MASTERS; index++) {
      const bus = await freePort();
      const cluster = ['--cluster-enabled', 'yes', '--cluster-port', String(bus)];
      const quick = ['--cluster-node-timeout', String(GONE_MS), '--cluster-replica-validity-factor', '0'];
      servers.push(await startRedis([...cluster, ...quick, ...options]));
      buses.push(bus);
    }
    /** Whether every server that answers says that all slots are served. */
    const isWhole = async () =>
      (await Promise.all(servers.map((server) => isWholeFor(server, options)))).every(Boolean);
    const replica = servers.at(-1);
    await form(servers, buses, options);
    await eventually(isWhole, { withinMs: FORMED_MS });
    return {
      masters: servers.slice(0, MASTERS),
      /** `host:port` of every server, separated by commas. */
      hosts: hostsOf(servers),
      isWhole,
      /** Whether the replica has all writes of the first master. */
      isInStep: () => hasReplicaInStep(servers[0], options),
      /** Whether the replica serves in place of the first master. */
      hasTakenOver: async () => (await roleOf(replica, options))[0] === 'master',
    };
  });
}

/**
 * Starts a master, its replica and their sentinels on the loopback. @param sentinelPassword required by the sentinels.
 */
export function startWatchedRedis(sentinelPassword?: string) {
  return startTogether(async (servers) => {
    const master = await startRedis();
    servers.push(master);
    const replica = await startRedis(['--replicaof', '127.0.0.1', String(portOf(master))]);
    servers.push(replica);
    for (let index = 0; index < SENTINELS; index++) {
      servers.push(await startSentinel(portOf(master), sentinelPassword));
    }
    const sentinels = servers.slice(2);
    const password = sentinelPassword === undefined ? [] : ['--requirepass', sentinelPassword];
    const ask = async (sentinel: TestRedis | undefined, question: string) =>
      (await say(sentinel, password, 'sentinel', question, MASTER_NAME)) as string[];
    const areReady = async () =>
      (await Promise.all(sentinels.map((sentinel) => ask(sentinel, 'master')))).every(isReadyToFailOver);
    await eventually(areReady, { withinMs: FORMED_MS });
    return {
      ...{ master, replica, sentinels, hosts: hostsOf(sentinels) },
      /** Whether the replica has all writes of the master. */
      isInStep: () => hasReplicaInStep(master, []),
      /** The port of the master, as the sentinels say. */
      masterPort: async () => Number((await ask(sentinels.at(-1), 'get-master-addr-by-name'))[1]),
    };
  });
}

/** Adds a `stop` of all servers that were started; a start that fails leaves none behind. */
async function startTogether<T>(start: (servers: TestRedis[]) => Promise<T>): Promise<T & { stop(): Promise<void> }> {
  const servers: TestRedis[] = [];
  const stop = async () => void (await Promise.all(servers.map((server) => server.stop())));
  try {
    return { ...(await start(servers)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The port of a server's address. */
export function portOf(server: TestRedis): number {
  return Number(new URL(server.url).port);
}

async function form(
  servers: readonly TestRedis[],
  buses: readonly number[],
  options: readonly string[],
): Promise<void> {
  const [first] = servers;
  for (const [index, server] of servers.slice(0, MASTERS).entries()) {
    const [from, to] = [index, index + 1].map((share) => Math.floor((share * SLOTS) / MASTERS));
    await say(server, options, 'cluster', 'addslotsrange', String(from), String((to ?? 0) - 1));
    await say(server, options, 'config', 'set', 'cluster-announce-ip', '127.0.0.1');
  }
  for (const [index, server] of servers.entries()) {
    if (index > 0) {
      const port = String(portOf(server));
      await say(first, options, 'cluster', 'meet', '127.0.0.1', port, String(buses[index]));
    }
  }
  const id = String(await say(first, options, 'cluster', 'myid'));
  const replica = servers.at(-1);
  await eventually(async () => (await say(replica, options, 'cluster', 'replicate', id).catch(() => '')) === 'OK', {
    withinMs: FORMED_MS,
  });
  await eventually(async () => (await roleOf(replica, options))[3] === 'connected', { withinMs: FORMED_MS });
}

/** What it is: `master` with offset and replicas, or `slave` with the state of its link to the master at index 3. */
async function roleOf(server: TestRedis | undefined, options: readonly string[]): Promise<unknown[]> {
  return (await say(server, options, 'role')) as unknown[];
}

async function hasReplicaInStep(master: TestRedis | undefined, options: readonly string[]): Promise<boolean> {
  const [, told, replicas] = await roleOf(master, options);
  return (replicas as unknown[][]).some(([, , has]) => Number(has) >= Number(told));
}

async function isWholeFor(server: TestRedis, options: readonly string[]): Promise<boolean> {
  const state = await say(server, options, 'cluster', 'info').catch(() => 'cluster_state:ok');
  return String(state).includes('cluster_state:ok');
}

/** It writes what it learns into its settings, so it needs its own file. */
async function startSentinel(masterPort: number, password: string | undefined): Promise<TestRedis> {
  const lines = [
    `sentinel monitor ${MASTER_NAME} 127.0.0.1 ${masterPort} 2`,
    `sentinel down-after-milliseconds ${MASTER_NAME} ${GONE_MS}`,
    `sentinel failover-timeout ${MASTER_NAME} 5000`,
    ...(password === undefined ? [] : [`requirepass ${password}`, `sentinel sentinel-pass ${password}`]),
  ];
  return startRedis(['--sentinel'], (directory) => {
    const file = join(directory, 'sentinel.conf');
    writeFileSync(file, `${lines.join('\n')}\n`);
    return file;
  });
}

function isReadyToFailOver(fields: readonly string[]): boolean {
  const numberOf = (name: string) => Number(fields[fields.indexOf(name) + 1]);
  return numberOf('num-slaves') === 1 && numberOf('num-other-sentinels') === SENTINELS - 1;
}

function hostsOf(servers: readonly TestRedis[]): string {
  return servers.map((server) => `127.0.0.1:${portOf(server)}`).join(',');
}

/** Says one thing to one server. @param options it was started with, for its password. */
async function say(server: TestRedis | undefined, options: readonly string[], ...words: string[]): Promise<unknown> {
  const at = options.indexOf('--requirepass');
  const password = at < 0 ? undefined : options[at + 1];
  const [command = '', ...rest] = words;
  return connectedTo({ port: server === undefined ? 0 : portOf(server), password }, (redis) =>
    redis.call(command, ...rest),
  );
}
