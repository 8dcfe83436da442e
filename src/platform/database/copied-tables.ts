import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import type { Secret } from '../../common/log/secret.js';
import { LEASE_MS } from '../instances/instances.repository.js';
import { connectionConfig } from './connection.js';
import { recordedMigrations } from './migrate.js';

const { escapeIdentifier } = pg;

/** A table that rows are copied of: an ordinary one, or a partition. */
export interface CopiedTable {
  readonly name: string;
  /** Without generated columns. */
  readonly columns: readonly string[];
}

interface CopiedPartition {
  readonly name: string;
  readonly parent: string;
  /** As SQL, such as `FOR VALUES FROM ('2026-11-01 00:00:00+00') TO ('2026-12-01 00:00:00+00')`. */
  readonly bound: string;
}

interface CopiedSequence {
  readonly name: string;
  /** `bigint`, as text. */
  readonly value: string;
  readonly isCalled: boolean;
}

/** What is needed to create the tables of a copy again. */
export interface CopiedSchema {
  /** Names of the migrations that made the schema, in order. */
  readonly migrations: readonly string[];
  readonly partitions: readonly CopiedPartition[];
  readonly sequences: readonly CopiedSequence[];
}

interface ForeignKey {
  readonly table: string;
  readonly name: string;
  readonly definition: string;
}

const RANGE = String.raw`\('\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00'\)`;
const BOUND = new RegExp(`^(?:DEFAULT|FOR VALUES FROM ${RANGE} TO ${RANGE})$`);

/** Copies all tables of a database, in one snapshot, out of it or into it. It uses one connection, until `close`. */
export class CopiedTables {
  private constructor(private readonly client: pg.Client) {}

  /** @throws the error of Postgres. */
  static async connect(url: Secret): Promise<CopiedTables> {
    const client = new pg.Client(connectionConfig({ url, applicationName: 'gateway-backup', statementTimeoutMs: 0 }));
    client.on('error', () => undefined);
    await client.connect();
    return new CopiedTables(client);
  }

  close(): Promise<void> {
    return this.client.end();
  }

  /** The time of the database, as ISO 8601 in UTC. */
  async now(): Promise<string> {
    const { rows } = await this.client.query<{ now: string }>(NOW);
    return rows.map(({ now }) => now).join();
  }

  /** From here on every statement reads one snapshot. */
  async beginSnapshot(): Promise<void> {
    await this.client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  }

  async tables(): Promise<CopiedTable[]> {
    return (await this.client.query<CopiedTable>(TABLES)).rows;
  }

  async schema(): Promise<CopiedSchema> {
    const migrations = await this.migrations();
    const { rows: partitions } = await this.client.query<CopiedPartition>(PARTITIONS);
    const { rows: names } = await this.client.query<{ name: string }>(SEQUENCES);
    const sequences: CopiedSequence[] = [];
    for (const { name } of names) {
      const { rows } = await this.client.query<Omit<CopiedSequence, 'name'>>(
        `SELECT last_value::text AS value, is_called AS "isCalled" FROM ${escapeIdentifier(name)}`,
      );
      sequences.push(...rows.map((row) => ({ name, ...row })));
    }
    return { migrations, partitions, sequences };
  }

  /** Names of the applied migrations, in order; empty if there is no schema yet. */
  migrations(): Promise<readonly string[]> {
    return recordedMigrations(this.client);
  }

  /** Whether the database has accounts. */
  async hasAccounts(): Promise<boolean> {
    return (await this.hasTable('organizations')) && (await this.isTrue('SELECT FROM organizations'));
  }

  /** Whether a gateway runs on the database. */
  async hasInstances(): Promise<boolean> {
    const live = `SELECT FROM gateway_instances WHERE seen_at > now() - interval '${LEASE_MS} milliseconds'`;
    return (await this.hasTable('gateway_instances')) && (await this.isTrue(live));
  }

  /** The rows of a table, in the text format of COPY. */
  rowsOf({ name, columns }: CopiedTable): AsyncIterable<Buffer> {
    return this.client.query(copyTo(`COPY ${escapeIdentifier(name)} (${listed(columns)}) TO STDOUT`));
  }

  /**
   * Replaces all rows by those that `load` brings, in one transaction. Triggers and foreign keys do not apply to single
   * rows: the rows were consistent in their snapshot; foreign keys are checked at the end.
   *
   * @throws Error the copy does not fit the schema; the error of Postgres. Then nothing is changed.
   */
  async replaceAll(
    { partitions, sequences }: CopiedSchema,
    load: (into: (table: CopiedTable) => NodeJS.WritableStream) => Promise<void>,
  ): Promise<void> {
    await this.client.query('BEGIN');
    for (const partition of partitions) await this.client.query(creationOf(partition));
    const names = (await this.tables()).map(({ name }) => escapeIdentifier(name));
    const { rows: keys } = await this.client.query<ForeignKey>(FOREIGN_KEYS);
    for (const { table, name } of keys) {
      await this.client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${escapeIdentifier(name)}`);
    }
    await this.client.query(`TRUNCATE ${names.join(', ')}`);
    for (const name of names) await this.client.query(`ALTER TABLE ${name} DISABLE TRIGGER USER`);
    await load(({ name, columns }) =>
      this.client.query(copyFrom(`COPY ${escapeIdentifier(name)} (${listed(columns)}) FROM STDIN`)),
    );
    for (const name of names) await this.client.query(`ALTER TABLE ${name} ENABLE TRIGGER USER`);
    for (const { table, name, definition } of keys) {
      await this.client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${escapeIdentifier(name)} ${definition}`);
    }
    for (const { name, value, isCalled } of sequences) {
      await this.client.query('SELECT setval($1::regclass, $2, $3)', [escapeIdentifier(name), value, isCalled]);
    }
    await this.client.query(END_INSTANCES);
    await this.client.query('COMMIT');
    await this.client.query('ANALYZE');
  }

  /** How many of these events are stored. */
  async countEvents(eventIds: readonly string[]): Promise<number> {
    const { rows } = await this.client.query<{ count: number }>(COUNT_EVENTS, [eventIds]);
    return rows[0]?.count ?? 0;
  }

  private hasTable(name: string): Promise<boolean> {
    return this.isTrue(`SELECT WHERE to_regclass('${name}') IS NOT NULL`);
  }

  private async isTrue(rows: string): Promise<boolean> {
    return (await this.client.query<{ found: boolean }>(`SELECT EXISTS (${rows}) AS found`)).rows[0]?.found === true;
  }
}

function listed(columns: readonly string[]): string {
  return columns.map((column) => escapeIdentifier(column)).join(', ');
}

function creationOf({ name, parent, bound }: CopiedPartition): string {
  if (!BOUND.test(bound)) throw new Error(`the partition ${name} has bounds that are unknown here: ${bound}`);
  return `CREATE TABLE IF NOT EXISTS ${escapeIdentifier(name)} PARTITION OF ${escapeIdentifier(parent)} ${bound}`;
}

const IN_SCHEMA = 'relnamespace = current_schema()::text::regnamespace';

const TABLES = `
  SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
   WHERE c.${IN_SCHEMA} AND c.relkind = 'r' AND c.relname <> 'migrations'
     AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
   GROUP BY c.relname ORDER BY c.relname`;

const PARTITIONS = `
  SELECT c.relname AS name, parent.relname AS parent, pg_get_expr(c.relpartbound, c.oid) AS bound
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class parent ON parent.oid = i.inhparent
   WHERE c.${IN_SCHEMA} AND c.relkind = 'r' AND c.relispartition ORDER BY c.relname`;

const SEQUENCES = `
  SELECT c.relname AS name FROM pg_class c
   WHERE c.${IN_SCHEMA} AND c.relkind = 'S' AND c.relname <> 'migrations_id_seq' ORDER BY c.relname`;

const FOREIGN_KEYS = `
  SELECT k.conrelid::regclass::text AS "table", k.conname AS name, pg_get_constraintdef(k.oid) AS definition
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
   WHERE c.${IN_SCHEMA} AND k.contype = 'f' AND k.conparentid = 0 ORDER BY k.conname`;

/** No process of the copy runs here. Its row stays: what it reserved is still to be released. */
const END_INSTANCES = `UPDATE gateway_instances SET seen_at = seen_at - interval '${LEASE_MS} milliseconds'`;

const NOW = `SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS now`;

const COUNT_EVENTS = 'SELECT count(DISTINCT event_id)::integer AS count FROM usage_events WHERE event_id = ANY ($1)';
