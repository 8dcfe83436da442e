import type { DataSource, EntityManager } from 'typeorm';
import { type InstanceProcess, isKnownToHaveEnded } from './own-process.js';
import { type Neighbour, rivalsOf } from './rivals.rules.js';

/** After this long without a sign of life an instance counts as gone. */
export const LEASE_MS = 3_000;

/** Transaction lock of whoever enters. Advisory locks are per database; the number only has to be ours. */
const ENTRY_LOCK = 5_272_024_048;

/** One process that serves from the database, as it tells the others. */
export interface LiveInstance {
  readonly id: string;
  /** Whether it was started with `REDIS_URL`. */
  readonly usesRedis: boolean;
  readonly host: string;
  readonly pid: number;
  /** When it began, milliseconds since the Unix epoch by the clock of the database. */
  readonly startedAtMs: number;
  /** Whether Redis answered it, and was the same as everybody's, when it last gave a sign of life. */
  readonly redisAnswers: boolean;
  /** Of the Redis that it counts in; null where that did not answer, or it does not tell. */
  readonly redisMark: string | null;
  /** The epoch of request counting it follows. */
  readonly limitEpoch: number;
}

/** What an instance says of itself when it begins. */
export interface InstanceEntry {
  readonly id: string;
  readonly process: InstanceProcess;
  readonly usesRedis: boolean;
  readonly redisMark: string | null;
}

/** What an instance says of itself with each sign of life. */
interface SignOfLife {
  readonly redisAnswers: boolean;
  readonly redisMark: string | null;
}

/** What a sign of life was answered. */
interface Renewal {
  /** The instances that live, by id; without this one when it has been taken for dead. */
  readonly live: readonly LiveInstance[];
  /** The time of the database when it answered, milliseconds since the Unix epoch; undefined where nobody lives. */
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
}

interface NeighbourRow extends InstanceProcess {
  readonly id: string;
  readonly uses_redis: boolean;
  readonly redis_mark: string | null;
  readonly seen_at: string;
}

/** The clock, not the begin of the transaction: that may have waited for the lock. */
const NEIGHBOURS = `
  SELECT id, host, pid, process_started AS started, uses_redis, redis_mark, seen_at::text AS seen_at FROM gateway_instances
  WHERE id <> $1 AND seen_at > clock_timestamp() - $2 * interval '1 millisecond'
  ORDER BY id COLLATE "C"`;

/** Its entry stays for a while: others may still have to settle what it had. */
const EXPIRE = `
  UPDATE gateway_instances SET seen_at = clock_timestamp() - $2 * interval '1 millisecond' WHERE id = ANY($1)`;

const DELETE_OLD = "DELETE FROM gateway_instances WHERE id <> $1 AND seen_at < now() - interval '1 day'";

const ADD = `
  INSERT INTO gateway_instances (id, host, pid, process_started, uses_redis, redis_mark, started_at, seen_at)
  VALUES ($1, $2, $3, $4, $5, $6, clock_timestamp(), clock_timestamp())
  ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, redis_mark = excluded.redis_mark`;

const DATABASE_NOW_MS = '(extract(epoch FROM clock_timestamp()) * 1000)::float8';

/**
 * A sign of life, and who else gave one: one statement, so that nobody is seen who was gone before it. One that comes
 * too late counts for nothing: others may have been let in meanwhile.
 */
const RENEW = `
  WITH own AS (
    UPDATE gateway_instances SET seen_at = now(), redis_answers = $2, redis_mark = $4
    WHERE id = $1 AND seen_at > now() - $3 * interval '1 millisecond' RETURNING id)
  SELECT id, host, pid, (extract(epoch FROM started_at) * 1000)::float8 AS started_at_ms, uses_redis,
    CASE WHEN id = $1 THEN $2 ELSE redis_answers END AS redis_answers,
    CASE WHEN id = $1 THEN $4 ELSE redis_mark END AS redis_mark, limit_epoch,
    ${DATABASE_NOW_MS} AS database_now_ms
  FROM gateway_instances
  WHERE id IN (SELECT id FROM own) OR (id <> $1 AND seen_at > now() - $3 * interval '1 millisecond')
  ORDER BY id COLLATE "C"`;

/** The time of the database, milliseconds since the Unix epoch. */
export async function readDatabaseTime(dataSource: DataSource): Promise<number> {
  const [row] = await dataSource.query<{ now: number }[]>(`SELECT ${DATABASE_NOW_MS} AS now`);
  if (row === undefined) throw new Error('the database tells no time');
  return row.now;
}

/** Reads and writes `gateway_instances`. Time is the database's, so that clocks of machines do not matter. */
export class InstancesRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Adds an instance, unless others live that it cannot serve beside. One at a time: of two that exclude each other
   * one is added. Processes of this machine that have ended count as gone at once.
   *
   * @returns those others; empty when it was added.
   */
  enter(entry: InstanceEntry): Promise<readonly Neighbour[]> {
    return this.dataSource.transaction(async (tx) => {
      await tx.query('SELECT pg_advisory_xact_lock($1)', [ENTRY_LOCK]);
      const rivals = rivalsOf(entry, await this.neighboursOf(tx, entry.id));
      if (rivals.length > 0) return rivals;
      const { host, pid, started } = entry.process;
      await tx.query(DELETE_OLD, [entry.id]);
      await tx.query(ADD, [entry.id, host, pid, started, entry.usesRedis, entry.redisMark]);
      return [];
    });
  }

  async renew(id: string, { redisAnswers, redisMark }: SignOfLife): Promise<Renewal> {
    const rows = await this.dataSource.query<InstanceRow[]>(RENEW, [id, redisAnswers, LEASE_MS, redisMark]);
    const live = rows.map((row) => ({
      id: row.id,
      host: row.host,
      pid: row.pid,
      startedAtMs: row.started_at_ms,
      usesRedis: row.uses_redis,
      redisAnswers: row.redis_answers,
      redisMark: row.redis_mark,
      limitEpoch: Number(row.limit_epoch),
    }));
    return { live, databaseNowMs: rows[0]?.database_now_ms };
  }

  async remove(id: string): Promise<void> {
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
