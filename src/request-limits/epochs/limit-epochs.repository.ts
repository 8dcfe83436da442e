import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { LEASE_MS } from '../../platform/instances/instances.repository.js';
import { WINDOW_MS } from '../request-limit.rules.js';
import type { CountedIn, EpochReason, EpochState } from './epoch.rules.js';

/** What this instance sees of the stored epoch. */
export interface EpochView extends EpochState {
  /** Names this deployment in a Redis that others may use, too. */
  readonly deployment: string;
  readonly reason: EpochReason;
  /** What others believe of this instance: see `OwnState.enteredEpoch`. */
  readonly enteredEpoch: number;
  /** How long others believe that this instance lives, from the moment the question was asked; negative: not any more. */
  readonly leaseLeftMs: number;
  /** Minutes that began longer ago than this are known; undefined: all are. */
  readonly minutesUnknownForMs: number | undefined;
}

/** Calls that one instance admitted in one window. */
export interface HandedCount {
  readonly appId: string;
  /** Empty for the application itself. */
  readonly userId: string;
  readonly windowMs: number;
  readonly windowStartMs: number;
  readonly requests: number;
}

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

/** Rows in one order for all, so that two instances never wait for each other in a circle. */
const ADD_COUNTS = `
  INSERT INTO limit_counts AS known (app_id, user_id, window_ms, window_start_ms, requests)
  SELECT * FROM unnest($1::text[], $2::text[], $3::integer[], $4::bigint[], $5::bigint[])
    AS handed(app_id, user_id, window_ms, window_start_ms, requests)
  ORDER BY app_id COLLATE "C", user_id COLLATE "C", window_ms, window_start_ms
  ON CONFLICT (app_id, user_id, window_ms, window_start_ms) DO UPDATE SET requests = known.requests + excluded.requests`;

/**
 * Members of an epoch are those who live when it is opened. It waits for everybody who lives and has ever counted; whom
 * nobody has heard of for longer than a lease is gone, and counted in no minute that begins later.
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

/** Who asks first in an epoch decides; what was handed over is never below what is recorded. */
const AGREE = `
  INSERT INTO limit_counts AS known (app_id, user_id, window_ms, window_start_ms, requests, agreed_epoch)
  VALUES ($1, $2, ${WINDOW_MS.day}, $3, $4, $5)
  ON CONFLICT (app_id, user_id, window_ms, window_start_ms) DO UPDATE SET
    requests = CASE WHEN known.agreed_epoch >= excluded.agreed_epoch THEN known.requests
      ELSE greatest(known.requests, excluded.requests) END,
    agreed_epoch = greatest(known.agreed_epoch, excluded.agreed_epoch)
  RETURNING requests`;

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
/** A minute, and a little more: who was last heard of so long ago counted in no minute that still runs. */
const LATELY_MS = WINDOW_MS.minute + LEASE_MS + 2_000;

/** All SQL about where requests are counted: `limit_epoch`, `limit_counts` and `gateway_instances.limit_epoch`. */
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

  /** Ends an epoch that is open. @returns false when somebody else has. */
  begin(tx: EntityManager, epoch: number, countedIn: CountedIn, reason: EpochReason): Promise<boolean> {
    return changesRow(tx, BEGIN, [epoch, countedIn, reason]);
  }

  /** Without Redis one instance counts alone: what Redis holds from before is worth nothing afterwards. */
  async beginAnew(): Promise<void> {
    await this.dataSource.query(
      "UPDATE limit_epoch SET epoch = epoch + 1, counted_in = 'redis', reason = 'begun', members = '{}', opened_at = clock_timestamp()",
    );
  }

  /**
   * Adds what an instance has counted while an epoch is being put together, and says that it follows it.
   *
   * @returns false when the epoch is open by now, or another one has begun: then nothing was added.
   */
  async handOver(
    tx: EntityManager,
    instanceId: string,
    epoch: number,
    counts: readonly HandedCount[],
  ): Promise<boolean> {
    if (!(await isAt(tx, epoch, 'opened_at IS NULL'))) return false;
    // Handed over before, in a transaction whose end was not heard of.
    if ((await enteredEpoch(tx, instanceId)) !== epoch) await addCounts(tx, counts);
    await follow(tx, instanceId, epoch);
    return true;
  }

  /**
   * Adds what an instance counts in an open epoch and forgets.
   *
   * @returns false when the epoch is over: then nothing was added.
   */
  async tell(tx: EntityManager, epoch: number, counts: readonly HandedCount[]): Promise<boolean> {
    if (!(await isAt(tx, epoch, 'opened_at IS NOT NULL'))) return false;
    await addCounts(tx, counts);
    return true;
  }

  /** Says that an instance that has counted nothing follows an open epoch. @returns false when another one has begun. */
  async enter(tx: EntityManager, instanceId: string, epoch: number): Promise<boolean> {
    if (!(await isAt(tx, epoch, 'opened_at IS NOT NULL'))) return false;
    await follow(tx, instanceId, epoch);
    return true;
  }

  /** Adds what an instance has counted and says that it counts no longer. */
  async leave(tx: EntityManager, instanceId: string, counts: readonly HandedCount[]): Promise<void> {
    await tx.query('SELECT epoch FROM limit_epoch FOR SHARE');
    if ((await enteredEpoch(tx, instanceId)) !== 0) await addCounts(tx, counts);
    await follow(tx, instanceId, 0);
  }

  /** Opens an epoch once everybody has handed over. @returns false where somebody is missing, or it is open. */
  open(tx: EntityManager, epoch: number): Promise<boolean> {
    return tx
      .query('SELECT epoch FROM limit_epoch FOR UPDATE')
      .then(() => changesRow(tx, OPEN, [epoch, LEASE_MS, LATELY_MS]));
  }

  /** The count a day begins with in an epoch, the same for all instances. */
  async agreeOnDay(
    epoch: number,
    { appId, userId, windowStartMs, requests }: Omit<HandedCount, 'windowMs'>,
  ): Promise<number> {
    const rows = await this.dataSource.query<{ requests: string }[]>(AGREE, [
      appId,
      userId,
      windowStartMs,
      requests,
      epoch,
    ]);
    return Number(rows[0]?.requests ?? requests);
  }

  /** What was handed over of minutes that begin between two instants. */
  listMinutes(fromMs: number, toMs: number): Promise<HandedCount[]> {
    return this.dataSource.query(MINUTES, [fromMs, toMs]);
  }

  /** Forgets windows long past; a bounded number of them. */
  async prune(nowMs: number): Promise<void> {
    const { minute, day } = WINDOW_MS;
    await this.dataSource.query(PRUNE, [minute, nowMs - MINUTES_KEPT * minute, ROWS_PRUNED]);
    await this.dataSource.query(PRUNE, [day, nowMs - (DAYS_KEPT + 1) * day, ROWS_PRUNED]);
  }
}

/** Whether an epoch is the current one and in this state; it stays so until the transaction ends. */
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

/** The last statement of a transaction, because signs of life of the instance change the same row. */
async function follow(tx: EntityManager, instanceId: string, epoch: number): Promise<void> {
  await tx.query('UPDATE gateway_instances SET limit_epoch = $2 WHERE id = $1', [instanceId, epoch]);
}

/** An `UPDATE … RETURNING`; the driver answers it with its rows and their number. */
async function changesRow(tx: EntityManager, sql: string, parameters: readonly unknown[]): Promise<boolean> {
  const [rows] = await tx.query<[unknown[], number]>(sql, [...parameters]);
  return rows.length > 0;
}

/** As the columns of `limit_counts` that rows are added to, one array each. */
export function handedColumns(counts: readonly HandedCount[]): unknown[] {
  return [
    counts.map(({ appId }) => appId),
    counts.map(({ userId }) => userId),
    counts.map(({ windowMs }) => windowMs),
    counts.map(({ windowStartMs }) => windowStartMs),
    counts.map(({ requests }) => requests),
  ];
}
