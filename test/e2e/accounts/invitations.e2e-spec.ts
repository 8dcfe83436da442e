import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Role } from '../../../src/accounts/access/admin-principal.js';
import { newMember } from '../../support/accounts/accounts.js';
import { auditEntries } from '../../support/accounts/audit-entries.js';
import { newOrganization, newPerson, type Person } from '../../support/accounts/people.js';
import { codeOf } from '../../support/api-client.js';
import { FakeClock } from '../../support/clock.js';
import { startWorld, type World } from '../../support/world.js';

const INVITATIONS = '/v1/admin/invitations';
const DETAILS = '/v1/console/invitations/details';
const ACCEPT = '/v1/console/invitations/accept';
const DAY_MS = 24 * 60 * 60 * 1000;

const clock = new FakeClock();
let world: World;
let organizationId: string;
let owner: Person;

beforeAll(async () => {
  world = await startWorld({ clock, env: { REDIS_URL: '' } });
});
beforeEach(async () => {
  // The next minute: the limit of an address starts again.
  clock.advance(60_000);
  ({ organizationId, owner } = await newOrganization(world));
});
afterAll(() => world.stop());

const invite = (by: Person, offer: object) => by.client.post(INVITATIONS, offer);
const details = (token: string) => world.as(undefined).post(DETAILS, { token });
const accept = (by: Person, token: string) => by.client.post(ACCEPT, { token });
const revoke = (by: Person, id: string) => by.client.post(`${INVITATIONS}/${id}/revoke`);
const roleOf = async ({ client }: Person) => (await client.get('/v1/admin/session')).body.session?.role;

async function invited(by: Person, offer: object = { role: 'member' }): Promise<{ id: string; token: string }> {
  const { body } = await invite(by, offer);
  return { id: body.invitation.id, token: body.url.split('#')[1] };
}

describe('POST /v1/admin/invitations', () => {
  it('an invitation → a link that is shown once and expires after seven days', async () => {
    const { status, body } = await invite(owner, { role: 'admin', email: ' Ann@Example.com ' });
    expect([status, body]).toEqual([
      201,
      {
        invitation: {
          ...{ id: expect.stringMatching(/^inv_[0-9a-z]{20}$/), role: 'admin', email: 'Ann@Example.com' },
          ...{ status: 'pending', invitedBy: owner.identityId, acceptedBy: null, acceptedAt: null, revokedAt: null },
          createdAt: clock.now().toISOString(),
          expiresAt: new Date(clock.nowMs() + 7 * DAY_MS).toISOString(),
        },
        url: expect.stringMatching(/^http:\/\/localhost:\d+\/invite#[0-9A-Za-z]{48}$/),
        mailed: false,
      },
    ]);
    const token = body.url.split('#')[1];
    const listed = await owner.client.get(INVITATIONS);
    expect(listed.body).toEqual({ invitations: [body.invitation] });
    const [row] = await world.dataSource.query('SELECT i::text AS text FROM invitations i WHERE id = $1', [
      body.invitation.id,
    ]);
    expect(`${listed.text} ${row.text} ${JSON.stringify(world.logs)}`).not.toContain(token);
  });

  it.each<[Role, string, (string | number)[]]>([
    ['admin', 'owner', [403, 'forbidden']],
    ['admin', 'admin', [201]],
    ['owner', 'owner', [201]],
    ['member', 'member', [403, 'forbidden']],
  ])('%s offers %s → %j', async (role, offered, expected) => {
    const by = await newPerson(world, { organizationId, role });
    expect(codeOf(await invite(by, { role: offered })).filter((word) => word !== undefined)).toEqual(expected);
  });

  it('100 pending invitations → no further one, even of two at once; after one is revoked → one more', async () => {
    await world.dataSource.query(
      `INSERT INTO invitations (id, organization_id, role, token_hash, invited_by, created_at, expires_at, revoked_at)
       SELECT $1 || n, $1, 'member', $1 || n, 'user_x', $2,
              $2::timestamptz + CASE WHEN n > 120 THEN interval '0' ELSE interval '7 days' END,
              CASE WHEN n BETWEEN 100 AND 120 THEN $2::timestamptz END
         FROM generate_series(1, 150) n`,
      [organizationId, clock.now()],
    );
    const answers = await Promise.all([1, 2].map(() => invite(owner, { role: 'member' })));
    expect(answers.map(codeOf).sort()).toEqual([
      [201, undefined],
      [409, 'conflict'],
    ]);
    expect((await revoke(owner, `${organizationId}7`)).status).toBe(200);
    expect((await invite(owner, { role: 'member' })).status).toBe(201);
  });

  it('keys, even of owners → 403 session_required', async () => {
    const { key } = await newMember(world.dataSource, organizationId, { role: 'owner' });
    const client = world.as(key);
    const { id } = await invited(owner);
    expect(codeOf(await client.post(INVITATIONS, { role: 'member' }))).toEqual([403, 'session_required']);
    expect(codeOf(await client.get(INVITATIONS))).toEqual([403, 'session_required']);
    expect(codeOf(await client.post(`${INVITATIONS}/${id}/revoke`))).toEqual([403, 'session_required']);
  });

  it.each([[{}], [{ role: 'root' }], [{ role: 'member', email: 'nobody' }], [{ role: 'member', token: 'mine' }]])(
    'body %j → 400',
    async (offer) => {
      expect(codeOf(await invite(owner, offer))).toEqual([400, 'invalid_request']);
    },
  );
});

describe('GET and POST .../revoke', () => {
  it('list → newest first, without those of other accounts', async () => {
    const first = await invited(owner);
    clock.advance(1_000);
    const second = await invited(owner);
    await invited((await newOrganization(world)).owner);
    const { invitations } = (await owner.client.get(INVITATIONS)).body;
    expect(invitations.map(({ id }: { id: string }) => id)).toEqual([second.id, first.id]);
  });

  it('revoked → no longer valid; again → the same answer', async () => {
    const { id, token } = await invited(owner);
    const answer = await revoke(owner, id);
    expect([answer.status, answer.body.invitation]).toEqual([
      200,
      expect.objectContaining({ id, status: 'revoked', revokedAt: clock.now().toISOString() }),
    ]);
    clock.advance(1_000);
    expect((await revoke(owner, id)).body).toEqual(answer.body);
    expect(codeOf(await details(token))).toEqual([404, 'not_found']);
    expect(codeOf(await accept(await newPerson(world, {}), token))).toEqual([404, 'not_found']);
  });

  it('ADR 0014: created by a clock that was ahead → not valid, can be revoked, and stays revoked', async () => {
    const { id, token } = await invited(owner);
    await world.dataSource.query("UPDATE invitations SET expires_at = expires_at + interval '1 year' WHERE id = $1", [
      id,
    ]);
    expect(codeOf(await details(token))).toEqual([404, 'not_found']);
    expect(codeOf(await accept(await newPerson(world, {}), token))).toEqual([404, 'not_found']);
    expect((await revoke(owner, id)).body.invitation).toMatchObject({ id, status: 'revoked' });
  });

  it('accepted → 409 conflict; expired → stays expired', async () => {
    const used = await invited(owner);
    await accept(await newPerson(world, {}), used.token);
    expect(codeOf(await revoke(owner, used.id))).toEqual([409, 'conflict']);
    const late = await invited(owner);
    await world.dataSource.query('UPDATE invitations SET expires_at = $2 WHERE id = $1', [late.id, clock.now()]);
    expect((await revoke(owner, late.id)).body.invitation).toMatchObject({ status: 'expired', revokedAt: null });
  });

  it('an owner’s invitation of an owner → admins cannot revoke it', async () => {
    const { id } = await invited(owner, { role: 'owner' });
    const admin = await newPerson(world, { organizationId, role: 'admin' });
    expect(codeOf(await revoke(admin, id))).toEqual([403, 'forbidden']);
  });

  it('one of another account → the same answer as a missing one, and unchanged', async () => {
    const stranger = (await newOrganization(world)).owner;
    const { id, token } = await invited(owner);
    const answers = [await revoke(stranger, id), await revoke(stranger, 'inv_00000000000000000000')];
    expect(answers.map(codeOf)).toEqual(Array(2).fill([404, 'not_found']));
    expect(answers[0]?.text).toBe(answers[1]?.text);
    expect((await details(token)).status).toBe(200);
  });
});

describe('POST /v1/console/invitations/details', () => {
  it('anyone with the link → sees what it offers, and nothing else', async () => {
    const { token } = await invited(owner, { role: 'admin', email: 'ann@example.com' });
    expect((await details(token)).body).toEqual({
      ...{ organizationName: 'Theirs', role: 'admin', email: 'ann@example.com' },
      expiresAt: new Date(clock.nowMs() + 7 * DAY_MS).toISOString(),
    });
  });

  it('unknown, used, revoked, expired, or of an expired account → the same 404', async () => {
    const used = await invited(owner);
    await accept(await newPerson(world, {}), used.token);
    const revoked = await invited(owner);
    await revoke(owner, revoked.id);
    const late = await invited(owner);
    await world.dataSource.query('UPDATE invitations SET expires_at = $2 WHERE id = $1', [late.id, clock.now()]);
    const over = await newOrganization(world);
    const ofOver = await invited(over.owner);
    await world.dataSource.query('UPDATE organizations SET expires_at = $2 WHERE id = $1', [
      over.organizationId,
      clock.now(),
    ]);
    const tokens = ['nonsense', 'A'.repeat(48), used.token, revoked.token, late.token, ofOver.token];
    const answers = await Promise.all(tokens.map(details));
    expect(answers.map(codeOf)).toEqual(tokens.map(() => [404, 'not_found']));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const person = await newPerson(world, {});
    const refused = await Promise.all(tokens.map((token) => accept(person, token)));
    expect(new Set(refused.map(({ text }) => text))).toEqual(new Set([answers[0]?.text]));
  });

  it('the page of another site → 403, even with a session', async () => {
    const { token } = await invited(owner);
    const headers = { origin: 'https://elsewhere.example' };
    expect(codeOf(await world.as(undefined).post(DETAILS, { token }, { headers }))).toEqual([403, 'forbidden']);
    const person = await newPerson(world, {});
    expect(codeOf(await person.client.post(ACCEPT, { token }, { headers }))).toEqual([403, 'forbidden']);
    expect((await details(token)).status).toBe(200);
  });

  it('ten times a minute from one address → the eleventh is refused', async () => {
    const { token } = await invited(owner);
    for (let time = 0; time < 10; time++) expect((await details(token)).status).toBe(200);
    const refused = await details(token);
    expect([...codeOf(refused), refused.body.error.data.scope]).toEqual([429, 'rate_limited', 'invitation']);
  });
});

describe('POST /v1/console/invitations/accept', () => {
  it('a person without an organization → joins with the role offered; again → the same answer', async () => {
    const { id, token } = await invited(owner, { role: 'admin' });
    const person = await newPerson(world, {});
    const answer = await accept(person, token);
    expect([answer.status, answer.body]).toEqual([200, { organizationId, role: 'admin' }]);
    expect((await accept(person, token)).body).toEqual(answer.body);
    expect(await roleOf(person)).toBe('admin');
    expect((await owner.client.get(INVITATIONS)).body.invitations).toMatchObject([
      { id, status: 'accepted', acceptedBy: person.identityId, acceptedAt: clock.now().toISOString() },
    ]);
    expect(codeOf(await accept(await newPerson(world, {}), token))).toEqual([404, 'not_found']);
  });

  it.each<[Role, Role, Role]>([
    ['member', 'admin', 'admin'],
    ['admin', 'member', 'admin'],
    ['owner', 'owner', 'owner'],
  ])('a member who is %s, offered %s → becomes %s, and the link is used', async (role, offered, expected) => {
    const { token } = await invited(owner, { role: offered });
    const person = await newPerson(world, { organizationId, role });
    expect((await accept(person, token)).body).toEqual({ organizationId, role: expected });
    expect(await roleOf(person)).toBe(expected);
    expect(codeOf(await accept(await newPerson(world, {}), token))).toEqual([404, 'not_found']);
  });

  it('an invitation for an e-mail address → only that person can accept, in any spelling', async () => {
    const { token } = await invited(owner, { role: 'member', email: 'Ann@Example.com' });
    expect(codeOf(await accept(await newPerson(world, { email: 'bob@example.com' }), token))).toEqual([
      403,
      'forbidden',
    ]);
    expect((await accept(await newPerson(world, { email: 'ann@example.com' }), token)).status).toBe(200);
  });

  it('not signed in → 401; a key → 403 session_required', async () => {
    const { token } = await invited(owner);
    const own = { headers: { origin: world.consoleOrigin } };
    expect(codeOf(await world.as(undefined).post(ACCEPT, { token }, own))).toEqual([401, 'auth_required']);
    expect(codeOf(await world.api.post(ACCEPT, { token }, own))).toEqual([403, 'session_required']);
  });

  it.each([
    ['none', undefined],
    ['null', 'null'],
    ['another site', 'https://elsewhere.example'],
    ['another port', 'http://127.0.0.1:1'],
  ])('origin: %s, with session and console header → 403, and the invitation is not used', async (_what, origin) => {
    const { token } = await invited(owner);
    const { cookie } = await newPerson(world, {});
    const browser = world.with({ cookie, 'x-console-request': '1', ...(origin === undefined ? {} : { origin }) });
    expect(codeOf(await browser.post(ACCEPT, { token }))).toEqual([403, 'forbidden']);
    expect((await details(token)).status).toBe(200);
  });

  it('a removed member → cannot return by the link they used, nor by one they created', async () => {
    const used = await invited(owner, { role: 'admin' });
    const person = await newPerson(world, {});
    await accept(person, used.token);
    const own = await invited(person);
    await owner.client.delete(`/v1/admin/members/${person.identityId}`);
    expect(codeOf(await accept(person, used.token))).toEqual([404, 'not_found']);
    expect(codeOf(await accept(person, own.token))).toEqual([404, 'not_found']);
  });

  it('an inviter whose role is lowered → their invitations above that role end, the others stay valid', async () => {
    const inviter = await newPerson(world, { organizationId, role: 'owner' });
    const [toOwner, toAdmin] = [await invited(inviter, { role: 'owner' }), await invited(inviter, { role: 'admin' })];
    await owner.client.put(`/v1/admin/members/${inviter.identityId}`, { role: 'admin' });
    expect([(await details(toOwner.token)).status, (await details(toAdmin.token)).status]).toEqual([404, 200]);
    await owner.client.put(`/v1/admin/members/${inviter.identityId}`, { role: 'member' });
    expect((await details(toAdmin.token)).status).toBe(404);
  });
});

describe('the audit trail', () => {
  it('created, revoked, joined, role raised, accepted without effect → one entry each, without an e-mail address', async () => {
    const first = await invited(owner, { role: 'member', email: 'ann@example.com' });
    await revoke(owner, first.id);
    await revoke(owner, first.id);
    const [second, third, fourth] = [
      await invited(owner),
      await invited(owner, { role: 'admin' }),
      await invited(owner, { role: 'member' }),
    ];
    const person = await newPerson(world, {});
    for (const { token } of [second, second, third, fourth]) await accept(person, token);
    const entries = await auditEntries(world, organizationId);
    expect(entries.slice(2).filter(({ action }) => action !== 'invitation.created')).toEqual([
      {
        ...{ action: 'member.joined', actor_id: person.identityId, target_id: person.identityId },
        details: { role: 'member', invitationId: second.id },
      },
      {
        ...{ action: 'member.role_changed', actor_id: person.identityId, target_id: person.identityId },
        details: { role: 'admin', invitationId: third.id },
      },
      {
        ...{ action: 'invitation.accepted', actor_id: person.identityId, target_id: fourth.id },
        details: null,
      },
    ]);
    expect(entries.slice(0, 2)).toEqual([
      {
        ...{ action: 'invitation.created', actor_id: owner.identityId, target_id: first.id },
        details: { role: 'member' },
      },
      {
        ...{ action: 'invitation.revoked', actor_id: owner.identityId, target_id: first.id },
        details: { role: 'member' },
      },
    ]);
    expect(JSON.stringify(entries)).not.toContain('@');
  });
});
