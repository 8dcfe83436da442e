import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SchedulerRegistry } from '@nestjs/schedule';
import type { DataSource } from 'typeorm';
import { SystemIds } from '../../../src/common/ids.js';
import { Log } from '../../../src/common/log/log.js';
import { createVault } from '../../../src/platform/vault/create-vault.js';
import type { VaultContext } from '../../../src/platform/vault/sealed-blob.rules.js';
import { readVaultSettings } from '../../../src/platform/vault/vault-settings.rules.js';
import { gatewaySecretContext, providerSecretContext } from '../../../src/providers/sealed-credential.rules.js';
import { Retention, RetentionSteps } from '../../../src/retention/retention.service.js';
import { NIGHTLY_RETENTION, RetentionSchedule } from '../../../src/retention/retention-schedule.service.js';
import { RetentionSessions } from '../../../src/retention/retention-session.repository.js';
import { webhookSecrets } from '../../../src/webhooks/stored-secrets.js';
import { firstOrganizationId } from '../../support/accounts/accounts.js';
import { FakeClock, sharedClockOf } from '../../support/clock.js';
import { eventually } from '../../support/eventually.js';
import { programEnvironment } from '../../support/platform/gateway-process.js';
import { keptTotals, storeUsage, usageRows } from '../../support/usage/recording/old-usage.js';
import { startWorld, testEnvironment, type World } from '../../support/world.js';

const MAINTENANCE = fileURLToPath(new URL('../../../dist/src/commands/maintenance.js', import.meta.url));
const DAY_MS = 24 * 60 * 60 * 1000;
const NEVER = new AbortController().signal;

/** So that the nights of the tests are not today's. */
const clock = new FakeClock(Date.parse('2025-05-30T03:16:30Z'));
let world: World;
let organizationId: string;

beforeAll(async () => {
  world = await startWorld({ clock });
  organizationId = await firstOrganizationId(world.dataSource);
});

afterAll(() => world.stop());

const retention = () => world.gateway.app.get(Retention, { strict: false });
const messages = () => world.logs.map(({ message }) => String(message));
const countOf = async (table: string, where: string): Promise<number> => {
  const [row] = await world.dataSource.query(`SELECT count(*)::int AS count FROM ${table} WHERE ${where}`);
  return row.count;
};

async function authEvents(appId: string, at: string, count: number): Promise<void> {
  await world.dataSource.query(
    `INSERT INTO auth_events (event_id, organization_id, app_id, event, outcome, created_at)
     SELECT gen_random_uuid(), $1, $2, 'register', 'ok', $3 FROM generate_series(1, $4::integer)`,
    [organizationId, appId, at, count],
  );
}

async function expiredChallenges(appId: string, count: number): Promise<void> {
  await world.dataSource.query(
    `INSERT INTO auth_challenges (challenge, app_id, expires_at)
     SELECT gen_random_uuid(), $1, now() + CASE WHEN n <= 2 THEN interval '1 minute' ELSE interval '-1 second' END
     FROM generate_series(1, 2 + $2::integer) AS n`,
    [appId, count],
  );
}

/** 32 random bytes, base64. */
const newKek = () => randomBytes(32).toString('base64');

interface SealedRow {
  readonly id: string;
  readonly revision: number;
  readonly blob: string;
  readonly context: VaultContext;
}

/** The keys of providers, then the tokens of upstream gateways, as stored, and the context they are bound to. */
async function sealedRows(source: DataSource): Promise<SealedRow[]> {
  const columns = 'organization_id AS "organizationId", id, type, revision, secret_blob AS blob';
  const [keys, tokens] = await Promise.all([
    source.query(`SELECT ${columns}, base_url AS "baseUrl" FROM providers WHERE secret_blob IS NOT NULL`),
    source.query(`SELECT ${columns}, config FROM provider_gateways`),
  ]);
  return [
    ...keys.map((row: SealedRow & Parameters<typeof providerSecretContext>[0]) => ({
      ...row,
      context: providerSecretContext(row),
    })),
    ...tokens.map((row: SealedRow & Parameters<typeof gatewaySecretContext>[0]) => ({
      ...row,
      context: gatewaySecretContext(row),
    })),
  ];
}

describe('what a nightly run deletes', () => {
  it('authentication events → those before the 90th day, even more than one statement deletes', async () => {
    const app = await world.app();
    await authEvents(app.id, '2025-02-28T23:59:59.999Z', 5_001);
    await authEvents(app.id, '2025-03-01T00:00:00Z', 3);
    expect(await retention().run(NEVER)).toBe('done');
    expect(world.logs).toContainEqual(expect.objectContaining({ message: 'auth_events_pruned', events: 5_001 }));
    expect(await countOf('auth_events', `app_id = '${app.id}'`)).toBe(3);
  });

  it('challenges → expired ones', async () => {
    const app = await world.app();
    await expiredChallenges(app.id, 5_002);
    expect(await retention().run(NEVER)).toBe('done');
    expect(world.logs).toContainEqual(
      expect.objectContaining({ message: 'auth_challenges_pruned', challenges: 5_002 }),
    );
    expect(await countOf('auth_challenges', `app_id = '${app.id}'`)).toBe(2);
  });

  it('invitations → those accepted, revoked or expired before the 90th day', async () => {
    const [old, kept] = ['2025-02-28T23:59:59.999Z', '2025-03-01T00:00:00Z'];
    const ends: [string, string, string | null, string | null][] = [
      ['ran out', old, null, null],
      ['ran out later', kept, null, null],
      ['accepted', kept, old, null],
      ['accepted later', kept, kept, null],
      ['revoked', kept, null, old],
      ['revoked later', kept, null, kept],
    ];
    for (const [id, expiresAt, acceptedAt, revokedAt] of ends) {
      await world.dataSource.query(
        `INSERT INTO invitations (id, organization_id, role, token_hash, invited_by, created_at, expires_at, accepted_at,
           revoked_at) VALUES ($1, $2, 'member', $1, 'someone', '2025-02-01', $3, $4, $5)`,
        [id, organizationId, expiresAt, acceptedAt, revokedAt],
      );
    }
    expect(await retention().run(NEVER)).toBe('done');
    expect(world.logs).toContainEqual(expect.objectContaining({ message: 'invitations_pruned', invitations: 3 }));
    const left = await world.dataSource.query('SELECT id FROM invitations ORDER BY id');
    expect(left).toEqual([{ id: 'accepted later' }, { id: 'ran out later' }, { id: 'revoked later' }]);
  });

  it('the audit trail → entries before the 90th day, even more than one statement deletes', async () => {
    const entries = `INSERT INTO audit_events (organization_id, created_at, action, actor_id, actor_kind, credential_type,
         action_source, target_type, target_id)
       SELECT 'some account', $1, 'app.created', 'someone', 'human', 'session', 'web', 'app', 'gone'
       FROM generate_series(1, $2::integer)`;
    await world.dataSource.query(entries, ['2025-02-28T23:59:59.999Z', 5_001]);
    await world.dataSource.query(entries, ['2025-03-01T00:00:00Z', 3]);
    expect(await retention().run(NEVER)).toBe('done');
    expect(world.logs).toContainEqual(expect.objectContaining({ message: 'audit_events_pruned', events: 5_001 }));
    expect(await countOf('audit_events', "organization_id = 'some account'")).toBe(3);
  });

  it('webhook events → those older than 30 days, with their deliveries', async () => {
    const { webhook } = (await world.api.post('/v1/admin/webhooks', { url: 'https://hooks.example.com' })).body;
    for (const [id, days] of [
      ['old', 32],
      ['recent', 29],
    ]) {
      await world.dataSource.query(
        `WITH event AS (
           INSERT INTO webhook_events SELECT $1, organization_id, 'app.created', 's', '{}', $3::timestamptz - $4 * interval '1 day'
             FROM webhooks WHERE id = $2 RETURNING id, created_at)
         INSERT INTO webhook_deliveries (webhook_id, event_id, status, attempts, created_at)
         SELECT $2, id, 'delivered', 1, created_at FROM event`,
        [id, webhook.id, clock.now(), days],
      );
    }
    expect(await retention().run(NEVER)).toBe('done');
    const kept = "SELECT event_id FROM webhook_deliveries WHERE event_id IN ('old', 'recent')";
    expect(await world.dataSource.query(kept)).toEqual([{ event_id: 'recent' }]);
    await world.api.delete(`/v1/admin/webhooks/${webhook.id}`);
  });

  it('sessions → expired ones', async () => {
    await world.dataSource.query(
      "INSERT INTO identities (id, kind, email, created_at) VALUES ('sleeper', 'human', 'sleeper@example.com', now())",
    );
    for (const [id, endsAt] of [
      ['ended', clock.now()],
      ['lives', new Date(clock.nowMs() + 1_000)],
    ]) {
      await world.dataSource.query(
        "INSERT INTO sessions VALUES ($1, 'sleeper', $1, NULL, NULL, '2025-01-01', '2025-01-01', $2)",
        [id, endsAt],
      );
    }
    expect(await retention().run(NEVER)).toBe('done');
    expect(world.logs).toContainEqual(expect.objectContaining({ message: 'sessions_pruned', sessions: 1 }));
    expect(await world.dataSource.query('SELECT id FROM sessions')).toEqual([{ id: 'lives' }]);
  });

  it('a gateway whose clock is years ahead → deletes only rows that are expired by the clock of the database', async () => {
    const app = await world.app();
    const [{ today }] = await world.dataSource.query("SELECT to_char(now(), 'YYYY-MM-DD') AS today");
    await storeUsage(world.dataSource, usageRows([{ app_id: app.id, day: today, user_id: 'ann' }], organizationId));
    const later = new FakeClock(Date.parse('2060-01-01'));
    const log = new Log(later, 'debug', (line) => world.logs.push(JSON.parse(line)));
    const { app: rooms } = world.gateway;
    const ahead = new Retention(
      new RetentionSessions(world.dataSource),
      rooms.get(RetentionSteps, { strict: false }),
      sharedClockOf(later),
      log,
    );
    expect(await ahead.run(NEVER)).toBe('done');
    expect(await countOf('usage_events', `app_id = '${app.id}'`)).toBe(1);
    expect(await countOf('usage_user_days', `app_id = '${app.id}'`)).toBe(1);
    expect(await countOf('usage_days', `app_id = '${app.id}' AND route IS NOT NULL`)).toBe(1);
  });
});

describe('budgets', () => {
  it('months long past → deleted with their grants; later ones, and one that is being changed, stay', async () => {
    const { id } = await world.app();
    const key = 'app_id, subject, period_start, scope, window_name';
    const values = "$1, $2, $3, CASE $2 WHEN '' THEN 'app' ELSE 'user' END, 'month'";
    const periods = `INSERT INTO budget_periods (${key}, organization_id, granted_nano_usd) VALUES (${values}, 'o', 5)`;
    const grants = `INSERT INTO budget_grants (${key}, instance_id, granted_nano_usd) VALUES (${values}, 'one', 5)`;
    for (const [user, month] of [
      ['', '2024-01-01'],
      ['ann', '2024-01-01'],
      ['busy', '2024-01-01'],
      ['', '2060-01-01'],
    ]) {
      await world.dataSource.query(periods, [id, user, month]);
      await world.dataSource.query(grants, [id, user, month]);
    }
    const runner = world.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query(`SELECT FROM budget_periods WHERE app_id = $1 AND subject = 'busy' FOR UPDATE`, [id]);
    try {
      expect(await retention().run(NEVER)).toBe('done');
      expect(await countOf('budget_periods', `app_id = '${id}'`)).toBe(2);
      expect(await countOf('budget_grants', `app_id = '${id}'`)).toBe(2);
    } finally {
      await runner.rollbackTransaction();
      await runner.release();
    }
    expect(await retention().run(NEVER)).toBe('done');
    expect(await countOf('budget_periods', `app_id = '${id}'`)).toBe(1);
  });
});

describe('one instance at a time, each step separately', () => {
  it('another instance is running it → skipped without changes; that one is killed → the next one runs it', async () => {
    const app = await world.app();
    await authEvents(app.id, '2025-01-01T00:00:00Z', 1);
    let free = () => {};
    const taken = new Promise<void>((resolve) => {
      free = resolve;
    });
    let pid = 0;
    const other = new RetentionSessions(world.dataSource).alone(async ({ connection }) => {
      [{ pid }] = await connection.query('SELECT pg_backend_pid() AS pid');
      await taken;
    });
    await eventually(() => pid > 0, { withinMs: 10_000 });
    expect(await retention().run(NEVER)).toBe('skipped');
    expect(messages()).toContain('retention_skipped');
    expect(await countOf('auth_events', `app_id = '${app.id}'`)).toBe(1);
    await world.dataSource.query('SELECT pg_terminate_backend($1)', [pid]);
    await eventually(async () => (await retention().run(NEVER)) === 'done', { withinMs: 10_000 });
    expect(await countOf('auth_events', `app_id = '${app.id}'`)).toBe(0);
    free();
    await other;
  });

  it('steps that fail → each logged, and the others complete; fixed → complete', async () => {
    const app = await world.app();
    await storeUsage(world.dataSource, usageRows([{ app_id: app.id, day: '2025-01-01' }], organizationId));
    const rename = (from: string, to: string) => world.dataSource.query(`ALTER TABLE ${from} RENAME TO ${to}`);
    const from = world.logs.length;
    await rename('auth_events', 'auth_events_away');
    await rename('usage_months', 'usage_months_away');
    expect(await retention().run(NEVER)).toBe('failed');
    await rename('auth_events_away', 'auth_events');
    await rename('usage_months_away', 'usage_months');
    const [events, ...others] = world.logs.slice(from);
    expect(events).toMatchObject({
      message: 'auth_events_prune_failed',
      level: 'error',
      error: expect.stringContaining('auth_events'),
    });
    expect(others.map(({ message }) => message)).toEqual([
      'auth_challenges_pruned',
      'kept_objects_pruned',
      'device_keys_pruned',
      'creation_receipts_pruned',
      'invitations_pruned',
      'audit_events_pruned',
      'webhook_events_pruned',
      'sessions_pruned',
      'cli_operations_pruned',
      'oauth_pruned',
      'management_keys_pruned',
      'usage_events_compacted',
      'usage_fold_failed',
      'usage_app_months_merged',
      'budget_periods_pruned',
      'limit_counts_pruned',
      'app_users_pruned',
      'provider_keys_resealed',
      'gateway_tokens_resealed',
      'play_credentials_resealed',
      'webhook_secrets_resealed',
    ]);
    expect(await countOf('usage_events', `app_id = '${app.id}'`)).toBe(0);
    expect(await retention().run(NEVER)).toBe('done');
  });

  it('asked to stop → stops, and leaves the rest for the next run', async () => {
    const app = await world.app();
    await authEvents(app.id, '2025-01-01T00:00:00Z', 1);
    expect(await retention().run(AbortSignal.abort())).toBe('stopped');
    expect(await countOf('auth_events', `app_id = '${app.id}'`)).toBe(1);
  });
});

describe('every night at 03:17 UTC', () => {
  const runs = () => messages().filter((message) => message === 'usage_rollup_folded').length;

  it('the clock passes 03:17, or jumps over it → starts once; the clock goes back → not again before it passes 03:17', async () => {
    const nights = new FakeClock(Date.parse('2025-05-30T03:16:30Z'));
    const nightly = new RetentionSchedule(retention(), nights);
    nightly.onApplicationBootstrap();
    let expected = runs();
    for (const [ms, begins] of [
      [20_000, false],
      [20_000, true],
      [20_000, false],
      [DAY_MS - 60_000, false],
      [40_000, true],
      [30 * DAY_MS, true],
      [-DAY_MS, false],
      [DAY_MS - 1, true],
    ] as const) {
      nights.advance(ms);
      await nightly.look();
      expected += begins ? 1 : 0;
      expect(runs()).toBe(expected);
    }
    nights.advance(DAY_MS);
    await nightly.beforeApplicationShutdown();
    await nightly.look();
    expect(runs()).toBe(expected);
  });

  it('the running service → has a job that checks its clock', () => {
    expect(world.gateway.app.get(RetentionSchedule, { strict: false })).toBeInstanceOf(RetentionSchedule);
    expect(world.gateway.app.get(SchedulerRegistry, { strict: false }).getIntervals()).toContain(NIGHTLY_RETENTION);
  });
});

describe('npm run maintenance', () => {
  async function maintain(environment: Record<string, string>) {
    const child = spawn(process.execPath, [MAINTENANCE], { env: programEnvironment(environment) });
    let [output, errors] = ['', ''];
    child.stdout.on('data', (bytes) => {
      output += bytes;
    });
    child.stderr.on('data', (bytes) => {
      errors += bytes;
    });
    const [code] = await once(child, 'close');
    const lines: Record<string, unknown>[] = output
      .split('\n')
      .flatMap((line) => (line === '' ? [] : JSON.parse(line)));
    return { code, lines, errors };
  }

  async function withDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
    const directory = mkdtempSync(join(tmpdir(), 'gateway-maintenance-'));
    try {
      return await work(directory);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }

  it('besides the running service → old usage is folded, and the service answers the same totals as before', async () => {
    const app = await world.app();
    const counts = { input_tokens: 7, output_tokens: 5, cost_nano_usd: 1_500_000_000 };
    const days = ['2024-02-03', '2024-02-29', '2025-01-03', '2025-01-04'];
    const old = days.map((day) => ({ app_id: app.id, user_id: 'ann', day, ...counts }));
    await storeUsage(world.dataSource, usageRows(old, organizationId));
    const usage = async () =>
      Promise.all(
        ['2024-02', '2025-01'].map(async (month) => {
          const { body } = await world.api.get(`/v1/admin/apps/${app.id}/usage?month=${month}`);
          return body;
        }),
      );
    const before = [await usage(), await keptTotals(world.dataSource)];
    expect(before[0]).toMatchObject([
      { requests: 2, cost_usd: 3 },
      { requests: 2, cost_usd: 3 },
    ]);
    const { code, lines } = await withDirectory((directory) =>
      maintain(testEnvironment(world.databaseUrl, directory, world.managementKey)),
    );
    expect(lines.map(({ message }) => message)).toEqual([
      'auth_events_pruned',
      'auth_challenges_pruned',
      'kept_objects_pruned',
      'device_keys_pruned',
      'creation_receipts_pruned',
      'invitations_pruned',
      'audit_events_pruned',
      'webhook_events_pruned',
      'sessions_pruned',
      'cli_operations_pruned',
      'oauth_pruned',
      'management_keys_pruned',
      'usage_events_compacted',
      'usage_rollup_folded',
      'usage_app_months_merged',
      'budget_periods_pruned',
      'limit_counts_pruned',
      'app_users_pruned',
      'provider_keys_resealed',
      'gateway_tokens_resealed',
      'play_credentials_resealed',
      'webhook_secrets_resealed',
    ]);
    expect(code).toBe(0);
    expect(await countOf('usage_events', `app_id = '${app.id}'`)).toBe(0);
    expect(await countOf('usage_months', `app_id = '${app.id}'`)).toBeGreaterThanOrEqual(1);
    expect([await usage(), await keptTotals(world.dataSource)]).toEqual(before);
  });

  it('a step that fails → its line and exit code 1', async () => {
    await world.dataSource.query('ALTER TABLE auth_events RENAME TO auth_events_away');
    const { code, lines } = await withDirectory((directory) =>
      maintain(testEnvironment(world.databaseUrl, directory, world.managementKey)),
    );
    await world.dataSource.query('ALTER TABLE auth_events_away RENAME TO auth_events');
    expect([code, lines.length, lines[0]?.message]).toEqual([1, 22, 'auth_events_prune_failed']);
  });

  it('a new version of the vault’s key → stored secrets are sealed with it, and opens without the old one', async () => {
    const token = { type: 'vercel', name: 'Rotated', token: 'token-of-the-gateway-1234' };
    const { gateway } = (await world.api.post('/v1/admin/provider-gateways', token)).body;
    const provider = await world.provider({ secret: 'sk-sealed-with-version-1' });
    const hook = (await world.api.post('/v1/admin/webhooks', { url: 'https://hooks.example.com' })).body;
    const rotated = (await world.api.post(`/v1/admin/webhooks/${hook.webhook.id}/rotate`)).body;
    const stored = () => sealedRows(world.dataSource);
    const before = await stored();
    const turned = { SECRET_VAULT_LOCAL_KEK_V2: newKek(), SECRET_VAULT_LOCAL_KEK_CURRENT_VERSION: '2' };
    const night = (keys: Record<string, string>) =>
      withDirectory(async (directory) => {
        const environment = testEnvironment(world.databaseUrl, directory, world.managementKey);
        const { code, lines } = await maintain({ ...environment, ...keys });
        return { code, told: lines.slice(-4).map(({ level: _level, timestamp: _timestamp, ...line }) => line) };
      });
    const told = (resealed: number, unreadable: number) => [
      { message: 'provider_keys_resealed', resealed, unreadable },
      { message: 'gateway_tokens_resealed', resealed, unreadable },
      { message: 'play_credentials_resealed', resealed: 0, unreadable: 0 },
      { message: 'webhook_secrets_resealed', resealed: 2 * resealed, unreadable: 2 * unreadable },
    ];
    const withoutFirst = { ...turned, SECRET_VAULT_LOCAL_KEK_V1: newKek() };
    expect(await night(withoutFirst)).toEqual({ code: 0, told: told(0, 1) });
    expect(await stored()).toEqual(before);
    expect(await night(turned)).toEqual({ code: 0, told: told(1, 0) });
    const after = await stored();
    expect(after.map(({ id, revision, blob }) => [id, revision, blob.slice(0, 'local1.2.'.length)])).toEqual([
      [provider.id, 1, 'local1.2.'],
      [gateway.id, 1, 'local1.2.'],
    ]);
    expect(await night(withoutFirst)).toEqual({ code: 0, told: told(0, 0) });
    const vault = createVault(readVaultSettings({ SECRET_VAULT_MODE: 'local', ...withoutFirst }), new SystemIds());
    const opened = await Promise.all(
      after.map(async ({ blob, context }) => (await vault.open(blob, context)).reveal()),
    );
    expect(opened).toEqual(['sk-sealed-with-version-1', 'token-of-the-gateway-1234']);
    const secrets = await Promise.all(
      webhookSecrets(world.dataSource.manager).map(async (rows) => {
        const [{ blob = '', context = {} } = {}] = await rows.page('', 1);
        return (await vault.open(blob, context)).reveal();
      }),
    );
    expect(secrets).toEqual([rotated.secret, hook.secret]);
  });

  it('invalid settings → a sentence that names the setting, and exit code 1', async () => {
    const { code, lines, errors } = await maintain({ DATABASE_POOL_SIZE: 'many' });
    expect([code, lines]).toEqual([1, []]);
    expect(errors).toMatch(/DATABASE_POOL_SIZE/);
  });
});
