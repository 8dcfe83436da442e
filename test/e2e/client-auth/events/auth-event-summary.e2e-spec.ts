import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { AuthEventDraft } from '../../../../src/client-auth/events/auth-event.js';
import { firstOrganizationId } from '../../../support/accounts/accounts.js';
import { anAuthEvent, recordAuthEvents } from '../../../support/client-auth/exchange/auth-events.js';
import { FakeClock } from '../../../support/clock.js';
import { storeEvents } from '../../../support/usage/recording/usage-events.js';
import { startWorld, type World } from '../../../support/world.js';

/** The last millisecond of a UTC day, so that a summary in another time zone is detected. */
const NOW_MS = Date.UTC(2026, 10, 20, 23, 59, 59, 999);
const DAY_MS = 86_400_000;
const OUTCOMES = ['ok', 'attest_failed', 'issuer_claims_missing', 'internal_error'] as const;
const REASONS = [null, 'bad_signature', 'claims_missing'] as const;

let world: World;
let organizationId: string;

beforeAll(async () => {
  world = await startWorld({ clock: new FakeClock(NOW_MS) });
  organizationId = await firstOrganizationId(world.dataSource);
});

afterAll(() => world.stop());

const summaryPath = (appId: string, query = '') => `/v1/admin/apps/${appId}/auth-events/summary${query}`;

const draftOf = (appId: string, overrides: Partial<AuthEventDraft> = {}) =>
  anAuthEvent({ organizationId, appId, createdAt: new Date(NOW_MS), ...overrides });

const record = (drafts: readonly AuthEventDraft[]) => recordAuthEvents(world.gateway, drafts);

/** The expected summary, computed from the attempts themselves. */
function expectedSummary(drafts: readonly AuthEventDraft[], days: number) {
  const to = new Date(NOW_MS).toISOString().slice(0, 10);
  const from = new Date(NOW_MS - (days - 1) * DAY_MS).toISOString().slice(0, 10);
  const inside = drafts.filter(({ createdAt }) => {
    const date = createdAt.toISOString().slice(0, 10);
    return date >= from && date <= to;
  });
  const counts = new Map<string, number>();
  for (const { createdAt, event, outcome, reason } of inside) {
    const key = [createdAt.toISOString().slice(0, 10), event, outcome, reason ?? ''].join('\t');
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const daily = [...counts]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, count]) => {
      const [date, event, outcome, reason] = key.split('\t');
      return { date, event, outcome, reason: reason || null, count };
    });
  const exchanges = inside.filter(({ event }) => event === 'token_exchange');
  const ok = exchanges.filter(({ outcome }) => outcome === 'ok').length;
  const delays = inside.flatMap(({ claimDelayMs }) => claimDelayMs ?? []).sort((one, other) => one - other);
  const rank = (share: number) => delays[Math.ceil(share * delays.length) - 1] ?? null;
  const sum = delays.reduce((total, delay) => total + delay, 0);
  return {
    from,
    to,
    daily,
    token_exchange: {
      total: exchanges.length,
      ok,
      success_rate: exchanges.length === 0 ? null : ok / exchanges.length,
    },
    claim_delay: {
      count: delays.length,
      avg_ms: delays.length === 0 ? null : Math.round(sum / delays.length),
      p50_ms: rank(0.5),
      p95_ms: rank(0.95),
    },
  };
}

/** Instants around today and around midnights. */
const instant = fc
  .tuple(fc.integer({ min: -1, max: 12 }), fc.constantFrom(0, 1, 43_200_000, DAY_MS - 1))
  .map(([daysAgo, ofDayMs]) => new Date(NOW_MS + 1 - (daysAgo + 1) * DAY_MS + ofDayMs));

describe('GET auth-events/summary', () => {
  it('any attempts, any number of days → the same as an independent count', async () => {
    const attempt = fc.record({
      event: fc.constantFrom<AuthEventDraft['event']>('register', 'token_exchange'),
      outcome: fc.constantFrom(...OUTCOMES),
      reason: fc.constantFrom(...REASONS),
      claimDelayMs: fc.option(fc.integer({ min: 0, max: 90_000 })),
      createdAt: instant,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(attempt, { maxLength: 200, size: 'max' }),
        fc.uniqueArray(fc.integer({ min: 1, max: 14 }), { minLength: 3, maxLength: 3 }),
        async (attempts, windows) => {
          const app = await world.app();
          const drafts = attempts.map((one) => draftOf(app.id, one));
          await record(drafts);
          for (const days of windows) {
            const { status, body } = await world.api.get(summaryPath(app.id, `?days=${days}`));
            expect([status, body.app_id, body.days]).toEqual([200, app.id, days]);
            expect(body).toMatchObject(expectedSummary(drafts, days));
            expect(body.daily).toHaveLength(expectedSummary(drafts, days).daily.length);
          }
        },
      ),
      { numRuns: 12 },
    );
  });

  it('nothing happened → 30 days of zeros and nulls', async () => {
    const app = await world.app();
    expect((await world.api.get(summaryPath(app.id))).body).toEqual({
      app_id: app.id,
      days: 30,
      from: '2026-10-22',
      to: '2026-11-20',
      daily: [],
      usage_failures: [],
      token_exchange: { total: 0, ok: 0, success_rate: null },
      claim_delay: { count: 0, avg_ms: null, p50_ms: null, p95_ms: null },
      pending_users: 0,
    });
  });

  it('usage_failures → requests that were not ok, of those days, by date and status', async () => {
    const app = await world.app();
    const used = { app_id: app.id, organization_id: organizationId };
    await storeEvents(
      world.dataSource,
      { ...used, status: 'provider_error', at: '2026-11-19T00:00:00.000Z' },
      { ...used, status: 'blocked_user', requests: 30, at: '2026-11-20T23:59:59.999Z' },
      { ...used, status: 'provider_error', requests: 2, at: '2026-11-20T00:00:00.000Z' },
      { ...used, status: 'ok', requests: 5, at: '2026-11-20T12:00:00.000Z' },
      { ...used, status: 'provider_error', at: '2026-11-18T23:59:59.999Z' },
    );
    expect((await world.api.get(summaryPath(app.id, '?days=2'))).body.usage_failures).toEqual([
      { date: '2026-11-19', status: 'provider_error', count: 1 },
      { date: '2026-11-20', status: 'blocked_user', count: 30 },
      { date: '2026-11-20', status: 'provider_error', count: 2 },
    ]);
  });

  it('pending_users → active ones with an open claim window', async () => {
    const app = await world.app();
    const users = [
      ['waits', 'active', new Date(NOW_MS)],
      ['waits too', 'active', new Date(1)],
      ['blocked', 'blocked', new Date(NOW_MS)],
      ['settled', 'active', null],
    ];
    for (const [id, status, since] of users) {
      await world.dataSource.query(
        `INSERT INTO app_users (organization_id, app_id, id, status, created_at, claim_pending_since)
         VALUES ($1, $2, $3, $4, now(), $5)`,
        [organizationId, app.id, id, status, since],
      );
    }
    expect((await world.api.get(summaryPath(app.id))).body.pending_users).toBe(2);
  });

  it.each(['days=0', 'days=366', 'days=1.5', 'days=', 'days=x', 'day=1'])('%s → 400 invalid_request', async (query) => {
    const app = await world.app();
    const { status, body } = await world.api.get(summaryPath(app.id, `?${query}`));
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
  });

  it('days=365 → 200', async () => {
    const app = await world.app();
    expect((await world.api.get(summaryPath(app.id, '?days=365'))).body.from).toBe('2025-11-21');
  });
});
