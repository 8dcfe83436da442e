import type { DataSource } from 'typeorm';
import type { ProcessMark } from '../database/process-mark.js';

/** After this long without a sign of life an instance counts as gone. */
export const LEASE_MS = 3_000;

/** One process that serves from the database, as it tells the others. */
export interface LiveInstance {
  readonly id: string;
  /** Whether it was started with `REDIS_URL`. */
  readonly usesRedis: boolean;
  /** Whether Redis answered it, when it last gave a sign of life. */
  readonly redisAnswers: boolean;
  /** The epoch of request counting it follows. */
  readonly limitEpoch: number;
}

/** What an instance says of itself when it begins. */
export interface InstanceEntry {
  readonly id: string;
  readonly host: string;
  readonly mark: ProcessMark;
  readonly usesRedis: boolean;
}

interface InstanceRow {
  readonly id: string;
  readonly uses_redis: boolean;
  readonly redis_answers: boolean;
  readonly limit_epoch: string;
}

const ADD = `
  INSERT INTO gateway_instances (id, host, pid, process_started, uses_redis) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (id) DO UPDATE SET seen_at = now()`;

/** A sign of life, and who else gave one: one statement, so that nobody is seen who was gone before it. */
const RENEW = `
  WITH own AS (UPDATE gateway_instances SET seen_at = now(), redis_answers = $2 WHERE id = $1 RETURNING id)
  SELECT id, uses_redis, CASE WHEN id = $1 THEN $2 ELSE redis_answers END AS redis_answers, limit_epoch
  FROM gateway_instances
  WHERE id IN (SELECT id FROM own) OR (id <> $1 AND seen_at > now() - $3 * interval '1 millisecond')
  ORDER BY id COLLATE "C"`;

/** Reads and writes `gateway_instances`. Time is the database's, so that clocks of machines do not matter. */
export class InstancesRepository {
  constructor(private readonly dataSource: DataSource) {}

  async add({ id, host, mark, usesRedis }: InstanceEntry): Promise<void> {
    await this.dataSource.query(ADD, [id, host, mark.pid, mark.started, usesRedis]);
  }

  /** @returns the instances that live, by id; without this one when it has been taken for dead. */
  async renew(id: string, redisAnswers: boolean): Promise<LiveInstance[]> {
    const rows = await this.dataSource.query<InstanceRow[]>(RENEW, [id, redisAnswers, LEASE_MS]);
    return rows.map((row) => ({
      id: row.id,
      usesRedis: row.uses_redis,
      redisAnswers: row.redis_answers,
      limitEpoch: Number(row.limit_epoch),
    }));
  }

  async remove(id: string): Promise<void> {
    await this.dataSource.query('DELETE FROM gateway_instances WHERE id = $1', [id]);
  }
}
