import { Injectable } from '@nestjs/common';
import type { AppRef } from '../app-directory/app.entity.js';
import { BackgroundDataSource } from '../platform/database/pools.js';

/** Which rows of a table are about one user of an application. */
interface UserTable {
  /** Columns with their types that are unique among the rows of a user; an index has them in this order, if many. */
  readonly key: Readonly<Record<string, string>>;
  /** Condition on the row `kept`: account `$1`, application `$2`, user `$3`. */
  readonly isOf: string;
}

/** The account of an application never changes, so its id names the account too. */
const OF_APP = 'kept.app_id = $2 AND $1::text IS NOT NULL';
const OF_ACCOUNT = 'kept.app_id = $2 AND kept.organization_id = $1';
const OF_USER = 'kept.user_id = $3';
/** Looks up the user in each day that the application has. */
const OF_USED_DAY = 'kept.day IN (SELECT used.day FROM usage_all_users_days used WHERE used.app_id = $2)';
const BREAK = String.raw`E'\n'`;
/** The subject of a run has its user after the second break; the parts before have none. */
const RUN_USER = `substr(kept.subject, strpos(kept.subject, ${BREAK}) + length(split_part(kept.subject, ${BREAK}, 2)) + 2)`;
const OF_BUDGET = `((kept.scope = 'user' AND kept.subject = $3) OR (kept.scope = 'run' AND ${RUN_USER} = $3))`;
const BUDGET_KEY = { scope: 'text', subject: 'text', window_name: 'text', period_start: 'timestamp' } as const;

const data = (path: string) => `kept.body::json #>> '{data,${path}}'`;
/** Only rows with the id anywhere are parsed. */
const OF_EVENT = `CASE WHEN strpos(kept.body, to_json($3::text)::text) > 0 OR strpos(kept.subject, $3) > 0
  THEN ${data('app')} = $2 AND (${data('user')} = $3
  OR (${data('target,type')} = 'user' AND ${data('target,id')} = $3) OR (${data('scope')} = 'user' AND ${data('id')} = $3)
  OR (${data('scope')} = 'run' AND ${RUN_USER} = $3)) END`;

/** Every table with ids of users. Source: docs/maintenance.md#personal-data. */
const USER_TABLES = {
  app_users: { key: { id: 'text' }, isOf: `${OF_ACCOUNT} AND kept.id = $3` },
  device_keys: { key: { key_id: 'text' }, isOf: `${OF_ACCOUNT} AND ${OF_USER}` },
  auth_events: { key: { id: 'bigint' }, isOf: `${OF_ACCOUNT} AND ${OF_USER}` },
  usage_events: {
    key: { model: 'text', provider_type: 'text', status: 'text', id: 'bigint' },
    isOf: `${OF_ACCOUNT} AND ${OF_USER}`,
  },
  usage_user_days: { key: { day: 'date' }, isOf: `${OF_ACCOUNT} AND ${OF_USER} AND ${OF_USED_DAY}` },
  usage_user_months: { key: { month: 'date' }, isOf: `${OF_ACCOUNT} AND ${OF_USER}` },
  kept_objects: { key: { object_id: 'text' }, isOf: `${OF_APP} AND ${OF_USER}` },
  budget_periods: { key: BUDGET_KEY, isOf: `${OF_ACCOUNT} AND ${OF_BUDGET}` },
  budget_grants: { key: { ...BUDGET_KEY, instance_id: 'text' }, isOf: `${OF_APP} AND ${OF_BUDGET}` },
  budget_runs: { key: { run_id: 'text' }, isOf: `${OF_ACCOUNT} AND ${OF_USER}` },
  limit_counts: { key: { window_ms: 'integer', window_start_ms: 'bigint' }, isOf: `${OF_APP} AND ${OF_USER}` },
  limit_unsent: { key: { day: 'date' }, isOf: `${OF_APP} AND ${OF_USER}` },
  audit_events: { key: { id: 'bigint' }, isOf: `${OF_ACCOUNT} AND kept.target_type = 'user' AND kept.target_id = $3` },
  webhook_events: { key: { id: 'text' }, isOf: `kept.organization_id = $1 AND ${OF_EVENT}` },
} as const satisfies Record<string, UserTable>;

export type UserTableName = keyof typeof USER_TABLES;

/** In the order of the export. */
export const USER_TABLE_NAMES = Object.keys(USER_TABLES) as readonly UserTableName[];

/** Rows of a table about a user. */
export interface UserRows {
  /** Each as a JSON object, with every column of the table. */
  readonly rows: readonly string[];
  /** The key of the last one; undefined: there are no more. */
  readonly after: readonly string[] | undefined;
}

/** Reads all that is stored about one user of an application, whichever room's table has it. */
@Injectable()
export class UserDataRepository {
  /** For rare and slow statements: not every table has an index by user. */
  constructor(private readonly dataSource: BackgroundDataSource) {}

  /** The next rows. @param after of the rows before; undefined: the first. @param limit 1 or more. */
  async read(
    table: UserTableName,
    { organizationId, id: appId }: AppRef,
    userId: string,
    { after, limit }: { after: readonly string[] | undefined; limit: number },
  ): Promise<UserRows> {
    const { key, isOf }: UserTable = USER_TABLES[table];
    const columns = Object.keys(key).map((name) => `kept.${name}`);
    const last = Object.values(key).map((type, at) => `$${at + 5}::${type}`);
    const isLater = after === undefined ? '' : `AND (${columns.join(', ')}) > (${last.join(', ')})`;
    const rows = await this.dataSource.query<{ row: string; key: string[] }[]>(
      `SELECT to_json(kept)::text AS row, ARRAY[${columns.map((name) => `${name}::text`).join(', ')}] AS key
       FROM ${table} kept WHERE ${isOf} ${isLater} ORDER BY ${columns.join(', ')} LIMIT $4`,
      [organizationId, appId, userId, limit, ...(after ?? [])],
    );
    return { rows: rows.map(({ row }) => row), after: rows.length < limit ? undefined : rows.at(-1)?.key };
  }
}
