import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { LEASE_MS } from '../../../platform/instances/instances.repository.js';
import { WINDOW_MS } from '../request-limit.rules.js';
import type { CountedIn, EpochReason, EpochState } from './epoch-machine.js';

/** The stored epoch and this instance's state in Postgres. */
export interface EpochView extends EpochState {
  /** Id of this deployment, which separates it from others in a shared Redis. */
  readonly deployment: string;
  readonly reason: EpochReason;
  /** See `OwnState.enteredEpoch`. */
  readonly enteredEpoch: number;
  /** Remaining lease of this instance at the time of the query; not positive: expired. */
  readonly leaseLeftMs: number;
  /** Minutes that began less than this long ago are complete, earlier ones are unknown; undefined: all are complete. */
  readonly minutesUnknownForMs: number | undefined;
}

/** Calls of one instance in one window. */
export interface HandedCount {
  readonly appId: string;
  /** Empty for the whole application. */
  readonly userId: string;
  readonly windowMs: number;
  readonly windowStartMs: number;
  readonly requests: number;
}

/** Calls in one UTC day. */
export type DayCount = Omit<HandedCount, 'windowMs'>;

interface EpochRow {
  readonly deployment: string;
  readonly epoch: string;
  readonly counted_in: CountedIn;
  readonly reason: EpochReason;
  readonly is_open: boolean;
  readonly members: string[];
  readonly open_for_ms: number;
  readonly minutes_unknown_for_ms: number | null;
  readonly entered_epoch: string | null;
  readonly lease_left_ms: number | null;
}

const millisecondsOf = (interval: string) => `(extract(epoch FROM ${interval}) * 1000)::float8`;

const READ = `
  SELECT state.deployment, state.epoch, state.counted_in, state.reason, state.opened_at IS NOT NULL AS is_open,
    state.members, coalesce(${millisecondsOf('clock_timestamp() - state.opened_at')}, 0) AS open_for_ms,
    ${millisecondsOf('clock_timestamp() - state.minutes_unknown_at')} AS minutes_unknown_for_ms,
    own.limit_epoch AS entered_epoch, ${millisecondsOf('own.seen_at - clock_timestamp()')} + $2 AS lease_left_ms
  FROM limit_epoch state LEFT JOIN gateway_instances own ON own.id = $1`;

const BEGIN = `
  UPDATE limit_epoch SET epoch = epoch + 1, counted_in = $2, reason = $3, opened_at = NULL, members = '{}'
  WHERE epoch = $1 AND opened_at IS NOT NULL RETURNING epoch`;

/** One row order for all instances prevents deadlocks. */
const ADD_COUNTS = `
  INSERT INTO limit_counts AS known (app_id, user_id, window_ms, window_start_ms, requests)
  SELECT * FROM unnest($1::text[], $2::text[], $3::integer[], $4::bigint[], $5::bigint[])
    AS handed(app_id, user_id, window_ms, window_start_ms, requests)
  ORDER BY app_id COLLATE "C", user_id COLLATE "C", window_ms, window_start_ms
  ON CONFLICT (app_id, user_id, window_ms, window_start_ms) DO UPDATE SET requests = known.requests + excluded.requests`;

/**
 * The members of an epoch are the instances that live when it is opened. It opens once every live instance that has
 * ever counted has handed over. An instance with an expired lease is gone and has counted in no minute that begins
 * later.
 */
const OPEN = `
  WITH state AS (SELECT epoch FROM limit_epoch WHERE epoch = $1 AND opened_at IS NULL),
  counting AS (
    SELECT id, limit_epoch, seen_at > clock_timestamp() - $2 * interval '1 millisecond' AS lives FROM gateway_instances
    WHERE limit_epoch > 0),
  missing AS (SELECT FROM counting WHERE lives AND limit_epoch < $1),
  gone AS (
    UPDATE gateway_instances lost SET limit_epoch = 0 FROM counting
    WHERE lost.id = counting.id AND NOT counting.lives AND counting.limit_epoch < $1
      AND EXISTS (SELECT FROM state) AND NOT EXISTS (SELECT FROM missing)
    RETURNING lost.seen_at > clock_timestamp() - $3 * interval '1 millisecond' AS counted_lately)
  UPDATE limit_epoch SET opened_at = clock_timestamp(),
    members = (SELECT coalesce(array_agg(id ORDER BY id COLLATE "C"), '{}') FROM counting WHERE lives),
    minutes_unknown_at = CASE WHEN EXISTS (SELECT FROM gone WHERE counted_lately) THEN clock_timestamp()
      ELSE minutes_unknown_at END
  WHERE epoch = $1 AND opened_at IS NULL AND NOT EXISTS (SELECT FROM missing) RETURNING epoch`;

/**
 * The first instance that asks in an epoch decides; a handed-over count is raised to the recorded count. One row order
 * for all instances prevents deadlocks.
 */
const AGREE = `
  WITH asked AS (
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[])
      WITH ORDINALITY AS asked(app_id, user_id, window_start_ms, requests, place)),
  agreed AS (
    INSERT INTO limit_counts AS known (app_id, user_id, window_ms, window_start_ms, requests, agreed_epoch)
    SELECT app_id, user_id, ${WINDOW_MS.day}, window_start_ms, min(requests), $5::bigint
    FROM asked GROUP BY app_id, user_id, window_start_ms
    ORDER BY app_id COLLATE "C", user_id COLLATE "C", window_start_ms
    ON CONFLICT (app_id, user_id, window_ms, window_start_ms) DO UPDATE SET
      requests = CASE WHEN known.agreed_epoch >= excluded.agreed_epoch THEN known.requests
        ELSE greatest(known.requests, excluded.requests) END,
      agreed_epoch = greatest(known.agreed_epoch, excluded.agreed_epoch)
    RETURNING app_id, user_id, window_start_ms, requests)
  SELECT agreed.requests FROM asked JOIN agreed USING (app_id, user_id, window_start_ms) ORDER BY place`;

const MINUTES = `
  SELECT app_id AS "appId", user_id AS "userId", window_ms AS "windowMs", window_start_ms::float8 AS "windowStartMs",
    requests::float8 AS requests
  FROM limit_counts WHERE window_ms = ${WINDOW_MS.minute} AND window_start_ms BETWEEN $1 AND $2`;

const PRUNE = `
  DELETE FROM limit_counts WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM limit_counts WHERE window_ms = $1 AND window_start_ms < $2 LIMIT $3))`;

const ROWS_IN_STATEMENT = 5_000;
const ROWS_PRUNED = 5_000;
const MINUTES_KEPT = 5;
const DAYS_KEPT = 2;
/**
 * A minute, a lease and a margin: an instance without a heartbeat for this long counted in no minute that still runs.
 */
const LATELY_MS = WINDOW_MS.minute + LEASE_MS + 2_000;

/** SQL of the epochs: `limit_epoch`, `limit_counts` and `gateway_instances.limit_epoch`. */
@Injectable()
export class LimitEpochsRepository {
  constructor(private readonly dataSource: DataSource) {}

  async read(instanceId: string): Promise<EpochView> {
    const rows = await this.dataSource.query<EpochRow[]>(READ, [instanceId, LEASE_MS]);
    const [row] = rows;
    if (row === undefined) throw new Error('limit_epoch has no row');
    return {
      deployment: row.deployment,
      epoch: Number(row.epoch),
      countedIn: row.counted_in,
      reason: row.reason,
      isOpen: row.is_open,
      members: row.members,
      openForMs: row.open_for_ms,
      minutesUnknownForMs: row.minutes_unknown_for_ms ?? undefined,
      enteredEpoch: Number(row.entered_epoch ?? 0),
      leaseLeftMs: row.lease_left_ms ?? Number.NEGATIVE_INFINITY,
    };
  }

  /** Replaces an open epoch by the next one. @returns false when another instance has already done so. */
  begin(tx: EntityManager, epoch: number, countedIn: CountedIn, reason: EpochReason): Promise<boolean> {
    return changesRow(tx, BEGIN, [epoch, countedIn, reason]);
  }

  /**
   * Begins and opens an epoch for one instance that counts alone, without Redis. Earlier counters in Redis become
   * invalid.
   */
  async beginAnew(): Promise<void> {
    await this.dataSource.query(
      "UPDATE limit_epoch SET epoch = epoch + 1, counted_in = 'redis', reason = 'begun', members = '{}', opened_at = clock_timestamp()",
    );
  }

  /**
   * Adds the counts of an instance to an epoch that is not open yet, and enters it.
   *
   * @returns false when the epoch is open or another one has begun; nothing was added then.
   */
  async handOver(
    tx: EntityManager,
    instanceId: string,
    epoch: number,
    counts: readonly HandedCount[],
  ): Promise<boolean> {
    if (!(await isAt(tx, epoch, 'opened_at IS NULL'))) return false;
    // Handed over before, in a transaction whose outcome was unknown.
    if ((await enteredEpoch(tx, instanceId)) !== epoch) await addCounts(tx, counts);
    await setEnteredEpoch(tx, instanceId, epoch);
    return true;
  }

  /**
   * Adds the counts that an instance evicts in an open epoch.
   *
   * @returns false when the epoch is over; nothing was added then.
   */
  report(epoch: number, counts: readonly HandedCount[]): Promise<boolean> {
    return this.dataSource.transaction(async (tx) => {
      if (!(await isAt(tx, epoch, 'opened_at IS NOT NULL'))) return false;
      await addCounts(tx, counts);
      return true;
    });
  }

  /** Enters an open epoch without counts to hand over. @returns false when another epoch has begun. */
  async enter(tx: EntityManager, instanceId: string, epoch: number): Promise<boolean> {
    if (!(await isAt(tx, epoch, 'opened_at IS NOT NULL'))) return false;
    await setEnteredEpoch(tx, instanceId, epoch);
    return true;
  }

  /** Adds the counts of an instance that stops counting, and leaves the epochs. */
  async leave(tx: EntityManager, instanceId: string, counts: readonly HandedCount[]): Promise<true> {
    await tx.query('SELECT epoch FROM limit_epoch FOR SHARE');
    if ((await enteredEpoch(tx, instanceId)) !== 0) await addCounts(tx, counts);
    await setEnteredEpoch(tx, instanceId, 0);
    return true;
  }

  /** Opens an epoch once every instance has handed over. @returns false when one is missing, or the epoch is open. */
  open(tx: EntityManager, epoch: number): Promise<boolean> {
    return tx
      .query('SELECT epoch FROM limit_epoch FOR UPDATE')
      .then(() => changesRow(tx, OPEN, [epoch, LEASE_MS, LATELY_MS]));
  }

  /** The bases of days in an epoch, equal for all instances, in the order of `asked`. */
  async agreeOnDays(epoch: number, asked: readonly DayCount[]): Promise<number[]> {
    const rows = await this.dataSource.query<{ requests: string }[]>(AGREE, [
      asked.map(({ appId }) => appId),
      asked.map(({ userId }) => userId),
      asked.map(({ windowStartMs }) => windowStartMs),
      asked.map(({ requests }) => requests),
      epoch,
    ]);
    return rows.map(({ requests }) => Number(requests));
  }

  /** Handed-over counts of minutes that begin between two times, milliseconds since the Unix epoch. */
  listMinutes(fromMs: number, toMs: number): Promise<HandedCount[]> {
    return this.dataSource.query(MINUTES, [fromMs, toMs]);
  }

  /** Deletes expired windows, a bounded number per call. */
  async prune(nowMs: number): Promise<void> {
    const { minute, day } = WINDOW_MS;
    await this.dataSource.query(PRUNE, [minute, nowMs - MINUTES_KEPT * minute, ROWS_PRUNED]);
    await this.dataSource.query(PRUNE, [day, nowMs - (DAYS_KEPT + 1) * day, ROWS_PRUNED]);
  }
}

/** Whether an epoch is current and in this state; the row lock keeps it so until the transaction ends. */
async function isAt(tx: EntityManager, epoch: number, state: string): Promise<boolean> {
  const rows = await tx.query<unknown[]>(`SELECT epoch FROM limit_epoch WHERE epoch = $1 AND ${state} FOR SHARE`, [
    epoch,
  ]);
  return rows.length > 0;
}

async function enteredEpoch(tx: EntityManager, instanceId: string): Promise<number | undefined> {
  const rows = await tx.query<{ epoch: string }[]>('SELECT limit_epoch AS epoch FROM gateway_instances WHERE id = $1', [
    instanceId,
  ]);
  return rows[0] && Number(rows[0].epoch);
}

async function addCounts(tx: EntityManager, counts: readonly HandedCount[]): Promise<void> {
  for (let from = 0; from < counts.length; from += ROWS_IN_STATEMENT) {
    await tx.query(ADD_COUNTS, handedColumns(counts.slice(from, from + ROWS_IN_STATEMENT)));
  }
}

/** Last statement of a transaction, because heartbeats of the instance update the same row. */
async function setEnteredEpoch(tx: EntityManager, instanceId: string, epoch: number): Promise<void> {
  await tx.query('UPDATE gateway_instances SET limit_epoch = $2 WHERE id = $1', [instanceId, epoch]);
}

/** Runs an `UPDATE … RETURNING`, for which the driver returns the rows and their number. */
async function changesRow(tx: EntityManager, sql: string, parameters: readonly unknown[]): Promise<boolean> {
  const [rows] = await tx.query<[unknown[], number]>(sql, [...parameters]);
  return rows.length > 0;
}

/** Counts as column arrays for `limit_counts`. */
export function handedColumns(counts: readonly HandedCount[]): unknown[] {
  return [
    counts.map(({ appId }) => appId),
    counts.map(({ userId }) => userId),
    counts.map(({ windowMs }) => windowMs),
    counts.map(({ windowStartMs }) => windowStartMs),
    counts.map(({ requests }) => requests),
  ];
}
