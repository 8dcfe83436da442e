import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ROLES, type Role } from '../../../src/accounts/access/admin-principal.js';
import { newMember } from '../../support/accounts/accounts.js';
import { auditEntries } from '../../support/accounts/audit-entries.js';
import { newOrganization, newPerson, type Person } from '../../support/accounts/people.js';
import { codeOf } from '../../support/api-client.js';
import { startWorld, type World } from '../../support/world.js';

const MEMBERS = '/v1/admin/members';
const SESSION = '/v1/admin/session';

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

const person = (role: Role) => newPerson(world, { organizationId, role });
const setRole = (by: Person, of: { identityId: string }, role: string) =>
  by.client.put(`${MEMBERS}/${of.identityId}`, { role });
const remove = (by: Person, of: { identityId: string }) => by.client.delete(`${MEMBERS}/${of.identityId}`);

async function rolesNow(): Promise<Record<string, Role>> {
  const rows: { identity_id: string; role: Role }[] = await world.dataSource.query(
    'SELECT identity_id, role FROM memberships WHERE organization_id = $1',
    [organizationId],
  );
  return Object.fromEntries(rows.map(({ identity_id, role }) => [identity_id, role]));
}

/** A key of a person in the organization. */
async function keyOf({ identityId }: Person): Promise<string> {
  const { key, identityId: holder } = await newMember(world.dataSource, organizationId, { role: 'member' });
  await world.dataSource.query('UPDATE management_keys SET identity_id = $1 WHERE identity_id = $2', [
    identityId,
    holder,
  ]);
  return key;
}

describe('GET /v1/admin/members', () => {
  it('admins and owners → all members, in the order they joined, services included', async () => {
    const admin = await person('admin');
    const service = await newMember(world.dataSource, organizationId, { role: 'member' });
    const { body } = await admin.client.get(MEMBERS);
    const joinedAt = expect.stringMatching(/Z$/);
    expect(body).toEqual({
      members: [
        { id: owner.identityId, name: 'A person', email: owner.email, kind: 'human', role: 'owner', joinedAt },
        { id: admin.identityId, name: 'A person', email: admin.email, kind: 'human', role: 'admin', joinedAt },
        { id: service.identityId, name: null, email: null, kind: 'service', role: 'member', joinedAt },
      ],
    });
    expect((await owner.client.get(MEMBERS)).body).toEqual(body);
  });

  it('members → 403 forbidden; keys, even of owners → 403 session_required', async () => {
    const member = await person('member');
    expect(codeOf(await member.client.get(MEMBERS))).toEqual([403, 'forbidden']);
    const { key } = await newMember(world.dataSource, organizationId, { role: 'owner' });
    expect(codeOf(await world.as(key).get(MEMBERS))).toEqual([403, 'session_required']);
    const path = `${MEMBERS}/${member.identityId}`;
    expect(codeOf(await world.as(key).put(path, { role: 'admin' }))).toEqual([403, 'session_required']);
    expect(codeOf(await world.as(key).delete(path))).toEqual([403, 'session_required']);
  });
});

/** The changes that each role may make to each other role; `-` ends the membership. */
const ALLOWED: Readonly<Record<Role, Readonly<Record<Role, string>>>> = {
  owner: { owner: 'owner admin member -', admin: 'owner admin member -', member: 'owner admin member -' },
  admin: { owner: '', admin: 'admin member -', member: 'admin member -' },
  member: { owner: '', admin: '', member: '' },
};

describe('who may change whom', () => {
  const cases = ROLES.flatMap((by) => ROLES.map((of): [Role, Role] => [by, of]));

  it.each(cases)('%s, of another %s → exactly what the role allows, and no other change', async (by, of) => {
    const actor = await person(by);
    const judged: string[] = [];
    for (const to of [...ROLES, '-']) {
      const target = await person(of);
      const answer = await (to === '-' ? remove(actor, target) : setRole(actor, target, to));
      if (answer.status === 200) judged.push(to);
      else expect(codeOf(answer)).toEqual([403, 'forbidden']);
      const expected = answer.status === 200 ? (to === '-' ? undefined : to) : of;
      expect((await rolesNow())[target.identityId]).toBe(expected);
    }
    expect(judged.join(' ')).toBe(ALLOWED[by][of]);
  });

  it.each(ROLES)('%s leaves → 200, and cannot return', async (role) => {
    const leaver = await person(role);
    expect((await remove(leaver, leaver)).body).toEqual({ removed: true });
    expect(codeOf(await leaver.client.get('/v1/admin/apps'))).toEqual([403, 'no_eligible_organization']);
    expect((await leaver.client.get(SESSION)).body.session).toMatchObject({ organization: null, role: null });
    expect(await rolesNow()).not.toHaveProperty(leaver.identityId);
  });

  it('a lowered role → takes effect from the next request on', async () => {
    const admin = await person('admin');
    expect((await setRole(owner, admin, 'member')).body.member).toMatchObject({
      id: admin.identityId,
      role: 'member',
    });
    expect(codeOf(await admin.client.get(MEMBERS))).toEqual([403, 'forbidden']);
  });

  it('an unknown role, or none → 400', async () => {
    const member = await person('member');
    expect(codeOf(await setRole(owner, member, 'root'))).toEqual([400, 'invalid_request']);
    expect(codeOf(await owner.client.put(`${MEMBERS}/${member.identityId}`, {}))).toEqual([400, 'invalid_request']);
  });
});

describe('the last owner', () => {
  it('cannot be demoted or removed and cannot leave; with a second owner they can', async () => {
    expect(codeOf(await setRole(owner, owner, 'admin'))).toEqual([409, 'last_owner']);
    expect(codeOf(await remove(owner, owner))).toEqual([409, 'last_owner']);
    expect(await rolesNow()).toEqual({ [owner.identityId]: 'owner' });
    const second = await person('owner');
    expect((await setRole(owner, owner, 'admin')).status).toBe(200);
    expect(codeOf(await remove(second, second))).toEqual([409, 'last_owner']);
  });

  it('besides a service that is an owner → still the last one; the service may be removed', async () => {
    const service = await newMember(world.dataSource, organizationId, { role: 'owner' });
    expect(codeOf(await remove(owner, owner))).toEqual([409, 'last_owner']);
    expect((await remove(owner, service)).status).toBe(200);
    expect((await world.as(service.key).get(SESSION)).status).toBe(401);
  });
});

describe('removed members', () => {
  it('their keys here → invalid from the next request on, permanently; their keys elsewhere still work', async () => {
    const other = await newOrganization(world);
    const member = await person('admin');
    await world.dataSource.query("INSERT INTO memberships VALUES ($1, $2, 'member', now())", [
      other.organizationId,
      member.identityId,
    ]);
    const [here, there] = [await keyOf(member), await keyOf(member)];
    await world.dataSource.query(
      "UPDATE management_keys SET organization_id = $1 WHERE token_hash = encode(sha256($2::bytea), 'hex')",
      [other.organizationId, there],
    );
    expect((await world.as(here).get(SESSION)).status).toBe(200);
    await remove(owner, member);
    expect((await world.as(here).get(SESSION)).status).toBe(401);
    await world.dataSource.query("INSERT INTO memberships VALUES ($1, $2, 'owner', now())", [
      organizationId,
      member.identityId,
    ]);
    expect((await world.as(here).get(SESSION)).status).toBe(401);
    expect((await world.as(there).get(SESSION)).status).toBe(200);
  });

  it('their sessions → switch to another of their organizations', async () => {
    const member = await person('admin');
    const other = await newOrganization(world);
    await world.dataSource.query("INSERT INTO memberships VALUES ($1, $2, 'member', now())", [
      other.organizationId,
      member.identityId,
    ]);
    expect((await member.client.get(SESSION)).body.session.organization.id).toBe(organizationId);
    await remove(owner, member);
    const { session } = (await member.client.get(SESSION)).body;
    expect([session.organization.id, session.role]).toEqual([other.organizationId, 'member']);
  });
});

describe('foreign and missing members', () => {
  it('a person of another organization → the same answer as an unknown one, and nothing changes', async () => {
    const foreign = await newOrganization(world);
    const ids = [foreign.owner, { identityId: 'user_00000000000000000000' }, { identityId: '%F0%9F%98%80' }];
    const answers = await Promise.all([
      ...ids.map((id) => setRole(owner, id, 'member')),
      ...ids.map((id) => remove(owner, id)),
    ]);
    expect(answers.map(codeOf)).toEqual(Array(6).fill([404, 'not_found']));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await foreign.owner.client.get(SESSION)).body.session.role).toBe('owner');
  });

  it('removed by a member, who may not remove anyone → the same answer as for a member of the account', async () => {
    const member = await person('member');
    const foreign = await newOrganization(world);
    const ids = [owner, foreign.owner, { identityId: 'user_00000000000000000000' }];
    const answers = await Promise.all(ids.map((id) => remove(member, id)));
    expect(answers.map(codeOf)).toEqual(Array(3).fill([403, 'forbidden']));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });
});

describe('the audit trail', () => {
  it('every change → one entry; without effect or refused → none', async () => {
    const member = await person('member');
    await setRole(owner, member, 'admin');
    await setRole(owner, member, 'admin');
    await setRole(member, owner, 'member');
    await remove(owner, member);
    expect(await auditEntries(world, organizationId)).toEqual([
      {
        ...{ action: 'member.role_changed', actor_id: owner.identityId, target_id: member.identityId },
        details: { from: 'member', to: 'admin' },
      },
      {
        ...{ action: 'member.removed', actor_id: owner.identityId, target_id: member.identityId },
        details: { role: 'admin' },
      },
    ]);
  });
});
