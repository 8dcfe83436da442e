import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { clientOf, newOrganization, newPerson, type Person } from '../../support/accounts/people.js';
import type { ApiAnswer } from '../../support/api-client.js';
import { type FurtherInstance, startFurtherInstance } from '../../support/platform/further-instance.js';
import { describeWithRedis, reachRedis } from '../../support/platform/redis.js';
import { startWorld, type World } from '../../support/world.js';

const ROUNDS = 8;

describeWithRedis('two at once, on two instances', () => {
  let redis: Awaited<ReturnType<typeof reachRedis>>;
  let world: World;
  let other: FurtherInstance;

  beforeAll(async () => {
    redis = await reachRedis();
    world = await startWorld({ env: { REDIS_URL: redis.url } });
    other = await startFurtherInstance(world);
  });
  afterAll(async () => {
    await other?.stop();
    await world?.stop();
    await redis?.stop();
  });

  const elsewhere = ({ cookie }: Person) => clientOf(other, cookie);
  const codesOf = (answers: readonly ApiAnswer[]) =>
    answers.map(({ status, body }) => `${status} ${body?.error?.code ?? 'done'}`).sort();

  async function ownersOf(organizationId: string): Promise<number> {
    const [row] = await world.dataSource.query(
      "SELECT count(*)::int AS owners FROM memberships WHERE organization_id = $1 AND role = 'owner'",
      [organizationId],
    );
    return row.owners;
  }

  it('the last two owners demote, or remove, each other and themselves → one owner is left', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { organizationId, owner } = await newOrganization(world);
      const second = await newPerson(world, { organizationId, role: 'owner' });
      const isRemoval = round % 2 === 1;
      const isSelf = round % 4 > 1;
      const act = (by: typeof owner.client, { identityId }: Person) => {
        const path = `/v1/admin/members/${identityId}`;
        return isRemoval ? by.delete(path) : by.put(path, { role: 'admin' });
      };
      const answers = await Promise.all([
        act(owner.client, isSelf ? owner : second),
        act(elsewhere(second), isSelf ? second : owner),
      ]);
      expect(codesOf(answers)[0]).toBe('200 done');
      expect(codesOf(answers)[1]).toMatch(/^(401|403|404|409) /);
      expect(await ownersOf(organizationId)).toBe(1);
    }
  });

  it('two people accept the same invitation → one joins, the other gets an error', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { organizationId, owner } = await newOrganization(world);
      const { url } = (await owner.client.post('/v1/admin/invitations', { role: 'admin' })).body;
      const body = { token: url.split('#')[1] };
      const [ann, bob] = [await newPerson(world, {}), await newPerson(world, {})];
      const answers = await Promise.all([
        ann.client.post('/v1/console/invitations/accept', body),
        elsewhere(bob).post('/v1/console/invitations/accept', body),
      ]);
      expect(codesOf(answers)).toEqual(['200 done', '404 not_found']);
      const [row] = await world.dataSource.query(
        'SELECT count(*)::int AS members FROM memberships WHERE organization_id = $1',
        [organizationId],
      );
      expect(row).toEqual({ members: 2 });
    }
  });

  it('one person accepts an invitation several times at once → the same answer, one membership, one entry', async () => {
    const { organizationId, owner } = await newOrganization(world);
    const { url } = (await owner.client.post('/v1/admin/invitations', { role: 'member' })).body;
    const person = await newPerson(world, {});
    const answers = await Promise.all(
      [person.client, elsewhere(person), person.client, elsewhere(person)].map((client) =>
        client.post('/v1/console/invitations/accept', { token: url.split('#')[1] }),
      ),
    );
    expect(answers.map(({ status, body }) => [status, body])).toEqual(
      Array(4).fill([200, { organizationId, role: 'member' }]),
    );
    const [row] = await world.dataSource.query(
      "SELECT count(*)::int AS entries FROM audit_events WHERE organization_id = $1 AND action = 'member.joined'",
      [organizationId],
    );
    expect(row).toEqual({ entries: 1 });
  });

  it('an admin is removed while inviting → none of their links works', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { organizationId, owner } = await newOrganization(world);
      const admin = await newPerson(world, { organizationId, role: 'admin' });
      const [written] = await Promise.all([
        elsewhere(admin).post('/v1/admin/invitations', { role: 'admin' }),
        owner.client.delete(`/v1/admin/members/${admin.identityId}`),
      ]);
      expect(codesOf([written])[0]).toMatch(/^(201 done|403 .+)$/);
      const [row] = await world.dataSource.query(
        'SELECT count(*)::int AS open FROM invitations WHERE organization_id = $1 AND revoked_at IS NULL',
        [organizationId],
      );
      expect(row).toEqual({ open: 0 });
    }
  });

  it('a removal on one instance → takes effect on the other from the next request on', async () => {
    const { organizationId, owner } = await newOrganization(world);
    const admin = await newPerson(world, { organizationId, role: 'admin' });
    expect((await elsewhere(admin).get('/v1/admin/members')).status).toBe(200);
    await owner.client.delete(`/v1/admin/members/${admin.identityId}`);
    expect(codesOf([await elsewhere(admin).get('/v1/admin/members')])).toEqual(['403 no_eligible_organization']);
  });
});
