import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** A call that names a run. */
export interface RunCall {
  readonly organizationId: string;
  readonly appId: string;
  /** Empty where calls have no user. */
  readonly userId: string;
  readonly runId: string;
  /** The budget of the run if this call begins it, in whole nano-dollars. */
  readonly budgetNanoUsd: number;
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number;
}

/** The run of a call. */
export interface BegunRun {
  readonly budgetNanoUsd: number;
  readonly startedAtMs: number;
}

interface RunRow {
  readonly at: number;
  readonly budget: string;
  readonly started_ms: string;
}

const KEY = 'app_id, user_id, run_id';
/** A run ends this long after its last call. */
const HAS_ENDED = "known.called_at <= excluded.called_at - interval '1 hour'";

/** Of several calls of one run, the first one may begin it. */
const JOIN = `
  WITH asked AS (
    SELECT asked.*, timestamptz 'epoch' + at_ms * interval '1 millisecond' AS called_at
    FROM json_to_recordset($1::json) AS asked(at integer, organization_id text, app_id text, user_id text, run_id text,
      budget bigint, at_ms bigint)),
  joined AS (
    INSERT INTO budget_runs AS known (organization_id, ${KEY}, budget_nano_usd, started_at, called_at)
    SELECT organization_id, ${KEY}, budget, called_at, called_at FROM (
      SELECT DISTINCT ON (${KEY}) * FROM asked ORDER BY ${KEY}, at) first
    ORDER BY app_id COLLATE "C", user_id COLLATE "C", run_id COLLATE "C"
    ON CONFLICT (${KEY}) DO UPDATE SET
      started_at = CASE WHEN ${HAS_ENDED} THEN excluded.started_at ELSE known.started_at END,
      budget_nano_usd = CASE WHEN ${HAS_ENDED} THEN excluded.budget_nano_usd ELSE known.budget_nano_usd END,
      called_at = greatest(known.called_at, excluded.called_at)
    RETURNING ${KEY}, budget_nano_usd, started_at)
  SELECT asked.at, joined.budget_nano_usd AS budget,
    round(extract(epoch FROM joined.started_at) * 1000)::bigint AS started_ms
  FROM asked JOIN joined USING (${KEY})`;

/** Reads and writes `budget_runs`. */
@Injectable()
export class RunsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Adds calls to their runs, or begins the runs. @returns the runs, in the order of the calls. */
  async join(calls: readonly RunCall[]): Promise<BegunRun[]> {
    const asked = calls.map(({ organizationId, appId, userId, runId, budgetNanoUsd, atMs }, at) => ({
      ...{ at, organization_id: organizationId, app_id: appId, user_id: userId, run_id: runId },
      ...{ budget: budgetNanoUsd, at_ms: atMs },
    }));
    const rows = await this.dataSource.query<RunRow[]>(JOIN, [JSON.stringify(asked)]);
    const byPlace = new Map(rows.map((row) => [row.at, row]));
    return calls.map((_, at) => {
      const row = byPlace.get(at);
      if (row === undefined) throw new Error('Postgres did not answer for a run');
      return { budgetNanoUsd: Number(row.budget), startedAtMs: Number(row.started_ms) };
    });
  }
}
