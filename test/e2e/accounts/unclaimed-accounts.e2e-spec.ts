import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { EntityManager } from 'typeorm';
import { NewOrganizations } from '../../../src/accounts/access/new-organizations.service.js';
import { Organizations } from '../../../src/accounts/organizations/organizations.service.js';
import { UnclaimedOrganizations } from '../../../src/accounts/organizations/unclaimed-organizations.service.js';
import { newMember } from '../../support/accounts/accounts.js';
import { auditEntries } from '../../support/accounts/audit-entries.js';
import { newOrganization, newPerson, type Person } from '../../support/accounts/people.js';
import { untilStatementWaits } from '../../support/platform/lock-waits.js';
import { startWorld, type World } from '../../support/world.js';

let world: World;
let accounts: UnclaimedOrganizations;
let newOrganizations: NewOrganizations;
let organizationId: string;
let opened = 0;

const inTransaction = <T>(work: (tx: EntityManager) => Promise<T>): Promise<T> => world.dataSource.transaction(work);
const claim = (person: Person, id = organizationId) => inTransaction((tx) => accounts.claim(tx, id, person));
const failing = (code: string) => expect.objectContaining({ code });

beforeAll(async () => {
  world = await startWorld();
  accounts = world.gateway.app.get(UnclaimedOrganizations, { strict: false });
  newOrganizations = world.gateway.app.get(NewOrganizations, { strict: false });
});
beforeEach(async () => {
  organizationId = `account-${++opened}`;
  await inTransaction((tx) =>
    newOrganizations.createForService(tx, { organizationId, serviceName: 'CLI service', actionSource: 'cli' }),
  );
});
afterAll(() => world.stop());

describe('accounts opened by a service', () => {
  it('opened → owned by its service, without a deadline, unclaimed, with an audit entry', async () => {
    const [row] = await world.dataSource.query(
      `SELECT o.name, o.expires_at, m.role, i.id, i.kind, i.name AS service, i.email
         FROM organizations o JOIN memberships m ON m.organization_id = o.id JOIN identities i ON i.id = m.identity_id
        WHERE o.id = $1`,
      [organizationId],
    );
    expect(row).toEqual({
      ...{ name: 'My account', expires_at: null, role: 'owner', kind: 'service', service: 'CLI service', email: null },
      id: `service-${organizationId}`,
    });
    expect(await accounts.isClaimed(organizationId)).toBe(false);
    expect(await auditEntries(world, organizationId)).toMatchObject([
      { action: 'organization.created', actor_id: `service-${organizationId}` },
    ]);
  });

  it('claimed → the person owns it; its keys and resources are unchanged, its deadline is removed', async () => {
    const { key } = await newMember(world.dataSource, organizationId, { role: 'owner' });
    const made = await world.as(key).post('/v1/admin/providers', { type: 'openai', name: 'A', secret: 'sk-a-secret' });
    await world.dataSource.query("UPDATE organizations SET expires_at = now() + interval '1 day' WHERE id = $1", [
      organizationId,
    ]);
    const person = await newPerson(world, {});
    await claim(person);
    expect(await accounts.isClaimed(organizationId)).toBe(true);
    const { session } = (await person.client.get('/v1/admin/session')).body;
    expect([session.organization, session.role]).toEqual([
      expect.objectContaining({ id: organizationId, name: 'My account', claimed: true, expiresAt: null }),
      'owner',
    ]);
    expect((await world.as(key).get('/v1/admin/providers')).body.providers).toEqual([made.body.provider]);
    expect((await auditEntries(world, organizationId)).at(-1)).toEqual({
      ...{ action: 'organization.claimed', actor_id: person.identityId, target_id: organizationId, details: null },
    });
  });

  it('claimed again, even by the same person → conflict', async () => {
    const person = await newPerson(world, {});
    await claim(person);
    await expect(claim(await newPerson(world, {}))).rejects.toEqual(failing('conflict'));
    await expect(claim(person)).rejects.toEqual(failing('conflict'));
  });

  it('by a person of another account → account_exists, and it stays unclaimed', async () => {
    const { owner } = await newOrganization(world);
    await expect(claim(owner)).rejects.toEqual(failing('account_exists'));
    expect(await accounts.isClaimed(organizationId)).toBe(false);
  });

  it('a missing one → not_found; an expired one → account_expired', async () => {
    const person = await newPerson(world, {});
    await expect(claim(person, 'account-none')).rejects.toEqual(failing('not_found'));
    await world.dataSource.query('UPDATE organizations SET expires_at = now() WHERE id = $1', [organizationId]);
    await expect(claim(person)).rejects.toEqual(failing('account_expired'));
  });

  it('four people at once → one owner', async () => {
    const people = await Promise.all([1, 2, 3, 4].map(() => newPerson(world, {})));
    const outcomes = await Promise.allSettled(people.map((person) => claim(person)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('one person claims a second account before the first claim is stored → waits, and is refused', async () => {
    const second = `account-${++opened}`;
    await inTransaction((tx) =>
      newOrganizations.createForService(tx, { organizationId: second, serviceName: 'A', actionSource: 'cli' }),
    );
    const person = await newPerson(world, {});
    const outcome = await inTransaction(async (tx) => {
      await accounts.claim(tx, organizationId, person);
      const other = claim(person, second).then(
        () => 'done',
        ({ code }) => code,
      );
      const waits = untilStatementWaits(world.dataSource).then(() => 'waits');
      expect(await Promise.race([other, waits])).toBe('waits');
      return { other };
    });
    expect(await outcome.other).toBe('account_exists');
  });
});

describe('the organization of a person who registers', () => {
  it('opened in a transaction → theirs, with an id derived from theirs, with an audit entry', async () => {
    const person = await newPerson(world, {});
    const own = world.gateway.app.get(Organizations, { strict: false });
    const { organizationId: id } = await inTransaction((tx) => own.createOwn(tx, person));
    expect(id).toBe(person.identityId.replace('user_', 'org_'));
    const { session } = (await person.client.get('/v1/admin/session')).body;
    expect([session.organization, session.role]).toEqual([
      expect.objectContaining({ id, name: 'My Organization', claimed: true }),
      'owner',
    ]);
    expect(await auditEntries(world, id)).toMatchObject([
      { action: 'organization.created', actor_id: person.identityId },
    ]);
    await expect(inTransaction((tx) => own.createOwn(tx, person))).rejects.toThrow('organizations_pkey');
  });
});
