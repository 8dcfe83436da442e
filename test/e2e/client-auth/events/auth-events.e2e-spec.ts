import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { AuthEventDraft } from '../../../../src/client-auth/events/auth-event.js';
import { firstOrganizationId, newAccount, newMember } from '../../../support/accounts/accounts.js';
import { anAuthEvent, recordAuthEvents } from '../../../support/client-auth/exchange/auth-events.js';
import { startWorld, type World } from '../../../support/world.js';

/** Parameter, the member of an attempt it is about, and its value. */
type Condition = readonly [string, 'event' | 'outcome' | 'userId', string];

/** Every combination of filters of the list, including values without events. */
const FILTERS: readonly Condition[][] = [undefined, 'register', 'token_exchange'].flatMap((event) =>
  [undefined, 'ok', 'attest_failed', 'never'].flatMap((outcome) =>
    [undefined, 'ann', 'b/c+d=', 'ANN'].map((userId) => [
      ...(event === undefined ? [] : [['event', 'event', event] as const]),
      ...(outcome === undefined ? [] : [['outcome', 'outcome', outcome] as const]),
      ...(userId === undefined ? [] : [['user', 'userId', userId] as const]),
    ]),
  ),
);

let world: World;
let organizationId: string;

beforeAll(async () => {
  world = await startWorld();
  organizationId = await firstOrganizationId(world.dataSource);
});

afterAll(() => world.stop());

const eventsPath = (appId: string, query = '') => `/v1/admin/apps/${appId}/auth-events${query}`;
const summaryPath = (appId: string, query = '') => `/v1/admin/apps/${appId}/auth-events/summary${query}`;

const draftOf = (appId: string, overrides: Partial<AuthEventDraft> = {}) =>
  anAuthEvent({ organizationId, appId, ...overrides });

const record = (drafts: readonly AuthEventDraft[]) => recordAuthEvents(world.gateway, drafts);

async function usersOf(appId: string, query = ''): Promise<unknown[]> {
  const { body } = await world.api.get(eventsPath(appId, query));
  return body.events.map((event: { user_id: string | null }) => event.user_id);
}

/** The versions on every page, one page after the other. */
async function allPages(appId: string, query: string): Promise<unknown[]> {
  const found: unknown[] = [];
  for (let before = ''; ; ) {
    const { body } = await world.api.get(eventsPath(appId, `?${query}${before}`));
    found.push(...body.events.map((event: { app_version: string }) => event.app_version));
    if (body.next_before_id === null) return found;
    before = `&before_id=${body.next_before_id}`;
  }
}

describe('GET auth-events', () => {
  it('an attempt → every field as documented', async () => {
    const app = await world.app();
    await record([
      draftOf(app.id, {
        userId: 'a/b+c=',
        reason: 'claims_missing',
        appVersion: '2.1',
        latencyMs: 12,
        claimDelayMs: 5_000_000_000,
        createdAt: new Date(Date.UTC(2026, 10, 20, 23, 59, 59, 999)),
      }),
      draftOf(app.id, { event: 'register', authMethod: null, outcome: 'invalid_request', createdAt: new Date(1) }),
    ]);
    const { status, body } = await world.api.get(eventsPath(app.id));
    expect(status).toBe(200);
    expect(body).toEqual({
      app_id: app.id,
      limit: 50,
      next_before_id: null,
      events: [
        {
          id: expect.any(Number),
          user_id: null,
          event: 'register',
          auth_method: null,
          outcome: 'invalid_request',
          reason: null,
          app_version: null,
          latency_ms: 5,
          claim_delay_ms: null,
          created_at: '1970-01-01T00:00:00.001Z',
        },
        {
          id: expect.any(Number),
          user_id: 'a/b+c=',
          event: 'token_exchange',
          auth_method: 'attest',
          outcome: 'ok',
          reason: 'claims_missing',
          app_version: '2.1',
          latency_ms: 12,
          claim_delay_ms: 5_000_000_000,
          created_at: '2026-11-20T23:59:59.999Z',
        },
      ],
    });
  });

  it('any attempts, every filter, any page size → exactly those that match, newest first, over all pages', async () => {
    const attempt = fc.record({
      event: fc.constantFrom<AuthEventDraft['event']>('register', 'token_exchange'),
      outcome: fc.constantFrom('ok', 'attest_failed'),
      userId: fc.constantFrom('ann', 'b/c+d='),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(attempt, { minLength: 10, maxLength: 30, size: 'max' }),
        fc.integer({ min: 3, max: 12 }),
        async (attempts, limit) => {
          const app = await world.app();
          const drafts = attempts.map((one, index) => draftOf(app.id, { ...one, appVersion: `v${index}` }));
          await record(drafts);
          for (const filter of FILTERS) {
            const query = filter.map(([name, , value]) => `&${name}=${encodeURIComponent(value)}`).join('');
            const matching = drafts.filter((draft) => filter.every(([, member, value]) => draft[member] === value));
            const expected = matching.map(({ appVersion }) => appVersion).reverse();
            expect([query, await allPages(app.id, `limit=${limit}${query}`)]).toEqual([query, expected]);
          }
        },
      ),
      { numRuns: 3 },
    );
  });

  it.each([
    'limit=0',
    'limit=201',
    'before_id=0',
    'before_id=x',
    'event=login',
    'event=',
    'outcome=',
    'user=',
    'outcome=a&outcome=b',
    'offset=1',
  ])('%s → 400 invalid_request', async (query) => {
    const app = await world.app();
    const { status, body } = await world.api.get(eventsPath(app.id, `?${query}`));
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
  });

  it('an unknown outcome → no events, no refusal', async () => {
    const app = await world.app();
    expect(await usersOf(app.id, '?outcome=no%20such%20%27code')).toEqual([]);
  });
});

describe('who may read', () => {
  it('no credential 401, another account 404, a member of this one 200, on both routes', async () => {
    const app = await world.app();
    await record([draftOf(app.id)]);
    const member = await newMember(world.dataSource, organizationId, { role: 'member', grant: 'read' });
    const stranger = await newAccount(world.dataSource);
    for (const path of [eventsPath(app.id), summaryPath(app.id)]) {
      const answers = await Promise.all(
        [undefined, stranger.key, member.key].map((bearer) => world.as(bearer).get(path)),
      );
      expect(answers.map(({ status }) => status)).toEqual([401, 404, 200]);
      expect(answers[1]?.body.error.code).toBe('app_not_found');
      expect((await world.api.get(path.replace(app.id, 'nobody-abc123'))).status).toBe(404);
    }
  });

  it('two applications → each shows its own', async () => {
    const [mine, other] = [await world.app(), await world.app()];
    await record([draftOf(mine.id, { userId: 'mine' }), draftOf(other.id, { userId: 'other' })]);
    expect([await usersOf(mine.id), await usersOf(other.id)]).toEqual([['mine'], ['other']]);
    expect((await world.api.get(summaryPath(mine.id))).body.token_exchange.total).toBe(1);
  });
});
