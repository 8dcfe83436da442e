import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newMember } from '../../support/accounts/accounts.js';
import { auditEntries } from '../../support/accounts/audit-entries.js';
import { clientOf, newOrganization, newPerson, type Person } from '../../support/accounts/people.js';
import { codeOf } from '../../support/api-client.js';
import { startWorld, type World } from '../../support/world.js';

const SESSION = '/v1/admin/session';
const ORGANIZATIONS = '/v1/admin/organizations';
const SELECT = `${ORGANIZATIONS}/select`;

let world: World;
let organizationId: string;
let owner: Person;

beforeAll(async () => {
  world = await startWorld();
});
beforeEach(async () => {
  ({ organizationId, owner } = await newOrganization(world));
});
afterAll(() => world.stop());

const patch = (person: Pick<Person, 'client'>, id: string, body: unknown) =>
  person.client.send('PATCH', `${ORGANIZATIONS}/${id}`, body, {});

async function join(person: Person, id: string, role = 'member'): Promise<void> {
  await world.dataSource.query('INSERT INTO memberships VALUES ($1, $2, $3, now())', [id, person.identityId, role]);
}

async function expire(id: string): Promise<void> {
  await world.dataSource.query("UPDATE organizations SET expires_at = now() - interval '1 second' WHERE id = $1", [id]);
}

describe('GET /v1/admin/session', () => {
  it('a session → the person, the current organization, and all their organizations', async () => {
    const other = await newOrganization(world);
    await join(owner, other.organizationId, 'admin');
    const { status, body } = await owner.client.get(SESSION);
    const [first, second] = body.session.memberships;
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        session: {
          user: {
            ...{ id: owner.identityId, name: 'A person', email: owner.email, kind: 'human' },
            ...{ emailVerified: false, image: null, createdAt: expect.stringMatching(/Z$/) },
          },
          organization: first.organization,
          role: 'owner',
          memberships: [first, second],
          credentialType: 'session',
          assurance: 'interactive',
          actor: {
            ...{ type: 'user', id: owner.identityId, kind: 'human' },
            ...{ credentialId: owner.sessionId, actionSource: 'web' },
          },
        },
      },
    });
    expect(first).toEqual({
      organization: {
        ...{ id: organizationId, name: 'Theirs', claimed: true, expiresAt: null },
        createdAt: expect.stringMatching(/Z$/),
      },
      role: 'owner',
      status: 'active',
      joinedAt: expect.stringMatching(/Z$/),
    });
    expect([second.organization.id, second.role]).toEqual([other.organizationId, 'admin']);
  });

  it('a key → only its own organization, whatever other ones its owner belongs to', async () => {
    const other = await newOrganization(world);
    const { key, identityId } = await newMember(world.dataSource, organizationId, { role: 'member', grant: 'read' });
    await world.dataSource.query("INSERT INTO memberships VALUES ($1, $2, 'owner', now())", [
      other.organizationId,
      identityId,
    ]);
    const { session } = (await world.as(key).get(SESSION, { headers: { 'x-client': 'cli' } })).body;
    expect(session).toMatchObject({
      user: { id: identityId, kind: 'service', email: null, name: null },
      organization: { id: organizationId },
      role: 'member',
      credentialType: 'apiKey',
      assurance: 'credential',
      actor: { kind: 'service', credentialId: expect.stringMatching(/^mkey_/), actionSource: 'cli' },
    });
    expect(session.memberships.map((one: { organization: { id: string } }) => one.organization.id)).toEqual([
      organizationId,
    ]);
  });

  it('a person without an organization → the person, without organization or role; a new organization is theirs', async () => {
    const nobody = await newPerson(world, {});
    const { status, body } = await nobody.client.get(SESSION);
    expect([status, body.session]).toEqual([
      200,
      {
        user: expect.objectContaining({ id: nobody.identityId, email: nobody.email, kind: 'human' }),
        ...{ organization: null, role: null, memberships: [] },
        ...{ credentialType: 'session', assurance: 'interactive' },
        actor: {
          ...{ type: 'user', id: nobody.identityId, kind: 'human' },
          ...{ credentialId: nobody.sessionId, actionSource: 'web' },
        },
      },
    ]);
    expect(codeOf(await nobody.client.get('/v1/admin/providers'))).toEqual([403, 'no_eligible_organization']);
    const { organization } = (await nobody.client.post(ORGANIZATIONS, { name: 'Mine' })).body;
    expect((await nobody.client.get(SESSION)).body.session).toMatchObject({
      organization: { id: organization.id, name: 'Mine' },
      role: 'owner',
    });
  });

  it('a person removed from all organizations → still sees their identity, can join by invitation, and can sign out', async () => {
    const leaver = await newPerson(world, { organizationId, role: 'member' });
    await owner.client.delete(`/v1/admin/members/${leaver.identityId}`);
    expect((await leaver.client.get(SESSION)).body.session).toMatchObject({ organization: null, role: null });
    const { url } = (await owner.client.post('/v1/admin/invitations', { role: 'admin' })).body;
    const token = new URL(url).hash.slice(1);
    expect((await leaver.client.post('/v1/console/invitations/accept', { token })).status).toBe(200);
    expect((await leaver.client.get(SESSION)).body.session).toMatchObject({ organization: { id: organizationId } });
    expect((await leaver.client.post('/v1/auth/sign-out', {})).status).toBe(200);
    expect(codeOf(await leaver.client.get(SESSION))).toEqual([401, 'auth_required']);
  });

  it('a person whose only organization is expired → 403 account_expired, as everywhere', async () => {
    await expire(organizationId);
    expect(codeOf(await owner.client.get(SESSION))).toEqual([403, 'account_expired']);
  });

  it('no credential, and an unknown key → 401', async () => {
    expect(codeOf(await world.as(undefined).get(SESSION))).toEqual([401, 'auth_required']);
    expect(codeOf(await world.as('gw_mgmt_unknown').get(SESSION))).toEqual([401, 'auth_required']);
  });

  it('an organization that no person owns → not claimed', async () => {
    const { session } = (await world.api.get(SESSION)).body;
    expect(session.organization).toMatchObject({ name: 'My account', claimed: false });
  });
});

describe('GET /v1/admin/organizations', () => {
  it('a person → their memberships, the oldest organization first', async () => {
    const older = await newOrganization(world);
    await world.dataSource.query("UPDATE organizations SET created_at = '2020-01-01' WHERE id = $1", [
      older.organizationId,
    ]);
    await join(owner, older.organizationId);
    const { organizations } = (await owner.client.get(ORGANIZATIONS)).body;
    expect(organizations).toMatchObject([
      { organization: { id: older.organizationId, createdAt: '2020-01-01T00:00:00.000Z' }, role: 'member' },
      { organization: { id: organizationId }, role: 'owner', status: 'active' },
    ]);
  });

  it('a person with no organization, or an expired one → the answer says so', async () => {
    const nobody = await newPerson(world, {});
    expect((await nobody.client.get(ORGANIZATIONS)).body).toEqual({ organizations: [] });
    await expire(organizationId);
    expect((await owner.client.get(ORGANIZATIONS)).body.organizations).toMatchObject([
      { organization: { expiresAt: expect.stringMatching(/Z$/) } },
    ]);
  });

  it('a key → 403 session_required, even for selecting and creating', async () => {
    expect(codeOf(await world.api.get(ORGANIZATIONS))).toEqual([403, 'session_required']);
    expect(codeOf(await world.api.post(SELECT, { organizationId }))).toEqual([403, 'session_required']);
    expect(codeOf(await world.api.post(ORGANIZATIONS, { name: 'A' }))).toEqual([403, 'session_required']);
  });
});

describe('POST /v1/admin/organizations/select', () => {
  it('a member → a session in that organization, and a cookie that later calls use', async () => {
    const other = await newOrganization(world);
    await join(owner, other.organizationId, 'member');
    const answer = await owner.client.post(SELECT, { organizationId: other.organizationId, further: 'ignored' });
    expect(answer.status).toBe(200);
    expect(answer.body.session).toMatchObject({
      organization: { id: other.organizationId },
      role: 'member',
      credentialType: 'session',
      actor: { credentialId: owner.sessionId },
    });
    const [cookie = '', ...flags] = (answer.headers.get('set-cookie') ?? '').split('; ');
    expect(cookie).toMatch(/^gw_identity_current_organization=/);
    expect(flags).toEqual(['Max-Age=31536000', 'Path=/', 'HttpOnly', 'SameSite=Lax']);
    const { body } = await clientOf(world, `${owner.cookie}; ${cookie}`).get(SESSION);
    expect(body.session).toEqual(answer.body.session);
  });

  it('a foreign organization → the same answer as for a missing one, and no cookie', async () => {
    const { organizationId: foreign } = await newOrganization(world);
    const answers = await Promise.all(
      [foreign, 'org_00000000000000000000'].map((id) => owner.client.post(SELECT, { organizationId: id })),
    );
    expect(answers.map(codeOf)).toEqual([
      [403, 'not_a_member'],
      [403, 'not_a_member'],
    ]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.map(({ headers }) => headers.get('set-cookie'))).toEqual([null, null]);
  });

  it('an expired organization → 403 account_expired; switching from it to another one → allowed', async () => {
    await expire(organizationId);
    const other = await newOrganization(world);
    expect(codeOf(await owner.client.post(SELECT, { organizationId }))).toEqual([403, 'account_expired']);
    await join(owner, other.organizationId);
    expect((await owner.client.post(SELECT, { organizationId: other.organizationId })).status).toBe(200);
  });

  it('no id → 400 naming it', async () => {
    const answer = await owner.client.post(SELECT, {});
    expect(answer.body.error).toMatchObject({ code: 'invalid_request', message: 'organizationId: is required' });
  });
});

describe('POST /v1/admin/organizations', () => {
  it('a person, even one without an organization → owns a new organization, with an audit entry', async () => {
    const person = await newPerson(world, {});
    const answer = await person.client.post(ORGANIZATIONS, { name: ' Second ' });
    const { organization } = answer.body;
    expect([answer.status, organization]).toEqual([
      201,
      {
        ...{ id: expect.stringMatching(/^org_[0-9a-z]{20}$/), name: 'Second', claimed: true, expiresAt: null },
        createdAt: expect.stringMatching(/Z$/),
      },
    ]);
    const { session } = (await person.client.get(SESSION)).body;
    expect([session.organization.id, session.role]).toEqual([organization.id, 'owner']);
    expect(await auditEntries(world, organization.id)).toEqual([
      {
        ...{ action: 'organization.created', actor_id: person.identityId },
        ...{ target_id: organization.id, details: null },
      },
    ]);
  });

  it.each([[{}], [{ name: ' ' }], [{ name: 'a'.repeat(101) }], [{ name: 'A', id: 'org_mine' }]])(
    'body %j → 400',
    async (body) => {
      expect(codeOf(await owner.client.post(ORGANIZATIONS, body))).toEqual([400, 'invalid_request']);
    },
  );
});

describe('maximum number of organizations per person', () => {
  it('20 → no further one, even of two at once; those of others do not count', async () => {
    await join(owner, (await newOrganization(world)).organizationId, 'admin');
    await world.dataSource.query(
      `WITH made AS (
         INSERT INTO organizations (id, name, created_at)
         SELECT $1 || '-' || n, 'One more', now() FROM generate_series(1, 18) n RETURNING id)
       INSERT INTO memberships SELECT id, $2, 'owner', now() FROM made`,
      [organizationId, owner.identityId],
    );
    const make = () => owner.client.post(ORGANIZATIONS, { name: 'The last one' });
    const answers = await Promise.all([make(), make()]);
    expect(answers.map(codeOf).sort()).toEqual([
      [201, undefined],
      [409, 'conflict'],
    ]);
  });
});

describe('PATCH /v1/admin/organizations/{id}', () => {
  it('the current one → renamed, with an audit entry', async () => {
    const answer = await patch(owner, organizationId, { name: 'Renamed' });
    expect([answer.status, answer.body.organization]).toEqual([
      200,
      expect.objectContaining({ id: organizationId, name: 'Renamed', claimed: true }),
    ]);
    expect((await owner.client.get(SESSION)).body.session.organization.name).toBe('Renamed');
    expect(await auditEntries(world, organizationId)).toMatchObject([
      { action: 'organization.renamed', actor_id: owner.identityId, details: { name: 'Renamed' } },
    ]);
  });

  it('a key with grant manage → allowed; a member, or a key with grant read → not allowed', async () => {
    const rename = async (role: 'admin' | 'member', grant: 'read' | 'manage') => {
      const { key } = await newMember(world.dataSource, organizationId, { role, grant });
      return codeOf(await patch({ client: world.as(key) }, organizationId, { name: 'A' }));
    };
    expect(await rename('admin', 'manage')).toEqual([200, undefined]);
    expect(await rename('member', 'manage')).toEqual([403, 'forbidden']);
    expect(await rename('admin', 'read')).toEqual([403, 'grant_insufficient']);
  });

  it('any other, even the person’s own → 404 as for a missing one; nothing is written', async () => {
    const foreign = await newOrganization(world);
    const own = await newOrganization(world);
    await join(owner, own.organizationId, 'owner');
    const answers = await Promise.all(
      [foreign.organizationId, own.organizationId, 'org_none'].map((id) => patch(owner, id, { name: 'Taken' })),
    );
    expect(answers.map(codeOf)).toEqual(Array(3).fill([404, 'not_found']));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await world.dataSource.query("SELECT id FROM organizations WHERE name = 'Taken'")).toEqual([]);
  });
});
