import type { DataSource, EntityManager } from 'typeorm';
import { VERSION } from '../../common/version.js';
import { incompatibleWith, type Neighbour } from './compatibility.rules.js';
import { type InstanceProcess, isKnownToHaveEnded } from './own-process.js';

/** Lease duration: an instance without a heartbeat for this long counts as gone. */
export const LEASE_MS = 3_000;

/**
 * Transaction advisory lock of acquiring a lease. Advisory locks are per database; the number only has to be unique.
 */
const LEASE_LOCK = 5_272_024_048;

/** One process that serves from the database. */
export interface LiveInstance {
  readonly id: string;
  /** True when it was started with `REDIS_URL`. */
  readonly usesRedis: boolean;
  readonly host: string;
  readonly pid: number;
  /** Start time by the database clock, in milliseconds since the Unix epoch. */
  readonly startedAtMs: number;
  /** True when, at its last heartbeat, Redis answered and all instances used the same Redis. */
  readonly redisAnswers: boolean;
  /** The mark of its Redis; null without Redis or an answer. */
  readonly redisMark: string | null;
  /** Its epoch of request counting. */
  readonly limitEpoch: number;
  readonly version: string;
  /** How far the clock of its machine was ahead of the database's at its last heartbeat, in milliseconds. */
  readonly clockAheadMs: number;
  /** Where it is reached, as `host:port`; empty before it listens. */
  readonly listensAt: readonly string[];
  /** Its `INTERNAL_URL`; null without one. */
  readonly internalUrl: string | null;
}

/** The data of a new lease. */
export interface LeaseRequest {
  readonly id: string;
  readonly process: InstanceProcess;
  readonly usesRedis: boolean;
  readonly redisMark: string | null;
  readonly internalUrl: string | null;
}

/** The data of a heartbeat. */
interface Heartbeat {
  /** Whole milliseconds. */
  readonly clockAheadMs: number;
  readonly redisAnswers: boolean;
  readonly redisMark: string | null;
  readonly listensAt: readonly string[];
}

/** The result of a heartbeat. */
interface Renewal {
  /** The live instances, by id; without this one when its lease had expired. */
  readonly live: readonly LiveInstance[];
  /** Database time of the answer, in milliseconds since the Unix epoch; undefined when no instance is live. */
  readonly databaseNowMs: number | undefined;
}

interface InstanceRow {
  readonly database_now_ms: number;
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly started_at_ms: number;
  readonly uses_redis: boolean;
  readonly redis_answers: boolean;
  readonly redis_mark: string | null;
  readonly limit_epoch: string;
  readonly version: string;
  readonly clock_ahead_ms: string;
  readonly listens_at: readonly string[];
  readonly internal_url: string | null;
}

interface NeighbourRow extends InstanceProcess {
  readonly id: string;
  readonly uses_redis: boolean;
  readonly redis_mark: string | null;
  readonly seen_at: string;
}

/** `clock_timestamp()`, because the transaction may have waited for the lock. */
const NEIGHBOURS = `
  SELECT id, host, pid, process_started AS started, uses_redis, redis_mark, seen_at::text AS seen_at FROM gateway_instances
  WHERE id <> $1 AND seen_at > clock_timestamp() - $2 * interval '1 millisecond'
  ORDER BY id COLLATE "C"`;

/** Expires leases and keeps the rows: other instances may still have to settle their reservations. */
const EXPIRE = `
  UPDATE gateway_instances SET seen_at = clock_timestamp() - $2 * interval '1 millisecond' WHERE id = ANY($1)`;

const DELETE_OLD = "DELETE FROM gateway_instances WHERE id <> $1 AND seen_at < now() - interval '1 day'";

const ACQUIRE = `
  INSERT INTO gateway_instances
    (id, host, pid, process_started, uses_redis, redis_mark, version, internal_url, started_at, seen_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp(), clock_timestamp())
  ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, redis_mark = excluded.redis_mark`;

const DATABASE_NOW_MS = '(extract(epoch FROM clock_timestamp()) * 1000)::float8';

/**
 * Renews a lease and reads the live instances in one statement, so both reflect one moment. An expired lease is not
 * renewed: others may have started meanwhile.
 */
const RENEW = `
  WITH own AS (
    UPDATE gateway_instances
    SET seen_at = now(), redis_answers = $2, redis_mark = $4, clock_ahead_ms = $5, listens_at = $6
    WHERE id = $1 AND seen_at > now() - $3 * interval '1 millisecond' RETURNING id)
  SELECT id, host, pid, (extract(epoch FROM started_at) * 1000)::float8 AS started_at_ms, uses_redis,
    CASE WHEN id = $1 THEN $2 ELSE redis_answers END AS redis_answers,
    CASE WHEN id = $1 THEN $4 ELSE redis_mark END AS redis_mark, limit_epoch, version,
    CASE WHEN id = $1 THEN $5 ELSE clock_ahead_ms END AS clock_ahead_ms,
    listens_at, internal_url, ${DATABASE_NOW_MS} AS database_now_ms
  FROM gateway_instances
  WHERE id IN (SELECT id FROM own) OR (id <> $1 AND seen_at > now() - $3 * interval '1 millisecond')
  ORDER BY id COLLATE "C"`;

/** The database time, in milliseconds since the Unix epoch. */
export async function readDatabaseTime(dataSource: DataSource): Promise<number> {
  const [row] = await dataSource.query<{ now: number }[]>(`SELECT ${DATABASE_NOW_MS} AS now`);
  if (row === undefined) throw new Error('the database returned no time');
  return row.now;
}

/** Reads and writes `gateway_instances`. Times are the database's, independent of machine clocks. */
export class InstancesRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Acquires a lease unless incompatible instances are live. Calls run one at a time, so of two incompatible instances
   * one succeeds. Processes of this machine that have ended expire at once.
   *
   * @returns the incompatible instances; empty when the lease was acquired.
   */
  acquire(request: LeaseRequest): Promise<readonly Neighbour[]> {
    return this.dataSource.transaction(async (tx) => {
      await tx.query('SELECT pg_advisory_xact_lock($1)', [LEASE_LOCK]);
      const conflicting = incompatibleWith(request, await this.neighboursOf(tx, request.id));
      if (conflicting.length > 0) return conflicting;
      const { host, pid, started } = request.process;
      await tx.query(DELETE_OLD, [request.id]);
      const { id, usesRedis, redisMark, internalUrl } = request;
      await tx.query(ACQUIRE, [id, host, pid, started, usesRedis, redisMark, VERSION, internalUrl]);
      return [];
    });
  }

  async renew(id: string, { redisAnswers, redisMark, clockAheadMs, listensAt }: Heartbeat): Promise<Renewal> {
    const renewal = [id, redisAnswers, LEASE_MS, redisMark, clockAheadMs, listensAt];
    const rows = await this.dataSource.query<InstanceRow[]>(RENEW, renewal);
    const live = rows.map((row) => ({
      id: row.id,
      host: row.host,
      pid: row.pid,
      startedAtMs: row.started_at_ms,
      usesRedis: row.uses_redis,
      redisAnswers: row.redis_answers,
      redisMark: row.redis_mark,
      limitEpoch: Number(row.limit_epoch),
      version: row.version,
      clockAheadMs: Number(row.clock_ahead_ms),
      listensAt: row.listens_at,
      internalUrl: row.internal_url,
    }));
    return { live, databaseNowMs: rows[0]?.database_now_ms };
  }

  async release(id: string): Promise<void> {
    await this.dataSource.query('DELETE FROM gateway_instances WHERE id = $1', [id]);
  }

  private async neighboursOf(tx: EntityManager, id: string): Promise<Neighbour[]> {
    const rows = await tx.query<NeighbourRow[]>(NEIGHBOURS, [id, LEASE_MS]);
    const ended = rows.filter(isKnownToHaveEnded);
    if (ended.length > 0) await tx.query(EXPIRE, [ended.map((row) => row.id), LEASE_MS]);
    return rows
      .filter((row) => !ended.includes(row))
      .map((row) => ({
        id: row.id,
        host: row.host,
        pid: row.pid,
        usesRedis: row.uses_redis,
        redisMark: row.redis_mark,
        seenAt: row.seen_at,
      }));
  }
}
