import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { firstOrganizationId, newAccount, newMember } from '../../support/accounts/accounts.js';
import { newPerson } from '../../support/accounts/people.js';
import type { ApiAnswer } from '../../support/api-client.js';
import { FakeClock } from '../../support/clock.js';
import { startWorld, type World } from '../../support/world.js';

const PATH = '/v1/admin/audit-events';
const TODAY = '2026-11-20';

const HOUR_MS = 3_600_000;
const clock = new FakeClock(Date.parse(`${TODAY}T12:00:00Z`));
let world: World;
let organizationId: string;

beforeAll(async () => {
  world = await startWorld({ clock });
  organizationId = await firstOrganizationId(world.dataSource);
});

afterAll(() => world.stop());

interface Entry {
  readonly at?: string;
  readonly action?: string;
  readonly actor?: string;
  readonly app?: string | null;
  readonly target: string;
}

/** An account whose trail is these entries, in this order, and a client of its owner. */
async function accountWith(...entries: readonly Entry[]) {
  const account = await newAccount(world.dataSource);
  for (const { at = `${TODAY}T10:00:00Z`, action = 'app.replaced', actor = 'ann', app = null, target } of entries) {
    await world.dataSource.query(
      `INSERT INTO audit_events (organization_id, created_at, action, actor_id, actor_kind, credential_type,
         action_source, target_type, target_id, app_id)
       VALUES ($1, $2, $3, $4, 'human', 'session', 'web', 'app', $5, $6)`,
      [account.organizationId, at, action, actor, target, app],
    );
  }
  return { ...account, list: (query = '') => world.as(account.key).get(`${PATH}${query}`) };
}

function targets({ body }: ApiAnswer): string[] {
  return body.events.map(({ target }: { target: { id: string } }) => target.id);
}

describe('GET /v1/admin/audit-events', () => {
  it('an action in the console → who, with which credential, on what, and when', async () => {
    const person = await newPerson(world, { organizationId, sessionEndsAt: new Date(clock.nowMs() + HOUR_MS) });
    const { body } = await person.client.post('/v1/admin/keys', { name: 'Traced', grant: 'read' });
    const answer = await world.api.get(`${PATH}?limit=1`);
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        limit: 1,
        next_before_id: answer.body.events[0].id,
        events: [
          {
            id: expect.any(Number),
            action: 'management_key.created',
            actor: {
              type: 'user',
              id: person.identityId,
              kind: 'human',
              credential_id: person.sessionId,
              action_source: 'web',
              name: 'A person',
            },
            credential_type: 'session',
            target: { type: 'management_key', id: body.key.id },
            app_id: null,
            details: { name: 'Traced', grant: 'read', source: 'console' },
            changes: [],
            created_at: `${TODAY}T12:00:00.000Z`,
          },
        ],
      },
    ]);
  });

  it('an action with a key → the service that owns it, the key, and the client that it named', async () => {
    const { id } = await world.app();
    await world.api.put(`/v1/admin/apps/${id}`, {}, { headers: { 'x-client': 'cli' } });
    await world.api.delete(`/v1/admin/apps/${id}?confirm=${id}`, { headers: { 'x-client': 'cli' } });
    const { events } = (await world.api.get(`${PATH}?app_id=${id}`)).body;
    expect(events[0]).toMatchObject({
      action: 'app.deleted',
      actor: { kind: 'service', credential_id: expect.stringMatching(/^mkey_/), action_source: 'cli' },
      credential_type: 'apiKey',
      target: { type: 'app', id },
      app_id: id,
    });
    expect(events.at(-1)).toMatchObject({ action: 'app.created', actor: { action_source: 'api' } });
  });

  it('pages → newest first, without gaps, the last one has no next page', async () => {
    const { list } = await accountWith(...['1', '2', '3', '4', '5'].map((target) => ({ target })));
    const first = await list('?limit=2');
    const second = await list(`?limit=2&before_id=${first.body.next_before_id}`);
    const third = await list(`?limit=2&before_id=${second.body.next_before_id}`);
    expect([first, second, third].map(targets)).toEqual([['5', '4'], ['3', '2'], ['1']]);
    expect(third.body.next_before_id).toBeNull();
    expect(targets(await list())).toEqual(['5', '4', '3', '2', '1']);
  });

  it.each([
    ['action=app.created', ['created']],
    ['actor_id=bob', ['by bob']],
    ['app_id=the-app', ['of the app and bob', 'of the app']],
    ['app_id=the-app&actor_id=carl', ['of the app and bob']],
    ['action=nothing.done', []],
  ])('%s → only the matching entries', async (query, expected) => {
    const { list } = await accountWith(
      { target: 'created', action: 'app.created' },
      { target: 'by bob', actor: 'bob' },
      { target: 'of the app', app: 'the-app' },
      { target: 'of the app and bob', app: 'the-app', actor: 'carl' },
    );
    expect(targets(await list(`?${query}`))).toEqual(expected);
  });

  it.each([
    [`from=${TODAY}`, ['today']],
    ['from=2026-11-19', ['today', 'late yesterday', 'early yesterday']],
    ['from=2026-11-19&to=2026-11-19', ['late yesterday', 'early yesterday']],
    ['to=2026-11-18', ['before']],
    ['from=0000-01-01&to=9999-12-31', ['later', 'today', 'late yesterday', 'early yesterday', 'before', 'long ago']],
    ['from=2026-11-19&to=2026-11-19&limit=1', ['late yesterday']],
    ['from=2026-09-02&to=2026-10-01', []],
    ['', ['later', 'today', 'late yesterday', 'early yesterday', 'before', 'long ago']],
  ])('days "%s" → UTC days, both included', async (query, expected) => {
    const { list } = await accountWith(
      { target: 'long ago', at: '2026-09-01T12:00:00Z' },
      { target: 'before', at: '2026-11-18T23:59:59.999Z' },
      { target: 'early yesterday', at: '2026-11-19T00:00:00Z' },
      { target: 'late yesterday', at: '2026-11-19T23:59:59.999Z' },
      { target: 'today', at: `${TODAY}T00:00:00Z` },
      { target: 'later', at: '2026-12-24T00:00:00Z' },
    );
    expect(targets(await list(`?${query}`))).toEqual(expected);
  });

  it('no actions → an empty page, for days too', async () => {
    const { list } = await accountWith();
    for (const query of ['', '?from=2026-01-01', '?from=0000-01-01&to=9999-12-31']) {
      expect((await list(query)).body).toEqual({ limit: 50, next_before_id: null, events: [] });
    }
  });

  it.each([
    ['limit=0', 'limit: '],
    ['limit=201', 'limit: '],
    ['before_id=x', 'before_id: '],
    ['from=2026-02-30', 'from: is not a day of the calendar'],
    ['from=2026-11-20&to=2026-11-19', 'from: must not be later than `to`'],
    ['to=yesterday', 'to: must be a day such as 2026-01-31'],
    ['actor=x', 'actor: '],
  ])('%s → 400', async (query, message) => {
    const { status, body } = await world.api.get(`${PATH}?${query}`);
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    expect(body.error.message).toContain(message);
  });

  it('another account → none of these entries, for any query', async () => {
    const [mine, other] = [await accountWith(), await accountWith({ target: 'theirs', app: 'the-app' })];
    const [{ id }] = (await other.list()).body.events;
    for (const query of ['', '?app_id=the-app', '?actor_id=ann', `?before_id=${id + 1}`, '?from=2026-11-01']) {
      expect((await mine.list(query)).body.events).toEqual([]);
    }
  });

  it('a member, and a key with read grant → allowed', async () => {
    const member = await newPerson(world, {
      organizationId,
      role: 'member',
      sessionEndsAt: new Date(clock.nowMs() + HOUR_MS),
    });
    const { key } = await newMember(world.dataSource, organizationId, { role: 'member', grant: 'read' });
    for (const client of [member.client, world.as(key)]) expect((await client.get(PATH)).status).toBe(200);
  });
});
