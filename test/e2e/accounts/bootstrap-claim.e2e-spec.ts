import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newServiceActor } from '../../../src/accounts/access/admin-principal.js';
import { NewOrganizations } from '../../../src/accounts/access/new-organizations.service.js';
import { ManagementKeysService } from '../../../src/accounts/management-keys/management-keys.service.js';
import { Secret } from '../../../src/common/log/secret.js';
import { newMember } from '../../support/accounts/accounts.js';
import { auditEntries } from '../../support/accounts/audit-entries.js';
import { clientOf, newOrganization, newPerson } from '../../support/accounts/people.js';
import { codeOf } from '../../support/api-client.js';
import { type FurtherInstance, startFurtherInstance } from '../../support/platform/further-instance.js';
import { describeWithRedis, reachRedis } from '../../support/platform/redis.js';
import {
  browserOf,
  newAddress,
  newSignUp,
  sessionCookieOf,
  setCookieOf,
  signUpAt,
  startConsoleWorld,
} from '../../support/sign-in/console.js';
import { newManagementKey, type World } from '../../support/world.js';

const CLAIM = '/v1/admin/organizations/claim';
const SESSION = '/v1/admin/session';

/** Another account opened by a bootstrap key, as at the start of a deployment. */
async function openedAccount({ dataSource, gateway }: World) {
  const key = newManagementKey();
  const organizationId = `private-${randomBytes(16).toString('hex')}`;
  const organizations = gateway.app.get(NewOrganizations, { strict: false });
  const keys = gateway.app.get(ManagementKeysService, { strict: false });
  await dataSource.transaction(async (tx) => {
    const { identityId } = await organizations.createForService(tx, {
      organizationId,
      serviceName: 'Bootstrap service',
      actionSource: 'system',
    });
    const terms = { organizationId, identityId, name: 'Bootstrap key', grant: 'manage', source: 'bootstrap' } as const;
    await keys.store(tx, new Secret(key), terms, newServiceActor(organizationId, identityId, 'system'));
  });
  return { key, organizationId };
}

describe('the account that the bootstrap key opened (docs/adr/0022)', () => {
  let world: World;
  let key: string;
  let organizationId: string;

  beforeAll(async () => {
    world = await startConsoleWorld();
  });
  beforeEach(async () => {
    ({ key, organizationId } = await openedAccount(world));
  });
  afterAll(() => world.stop());

  const sessionOf = async (cookie: string) => (await browserOf(world, { cookie }).get(SESSION)).body.session;

  it('the first person signs up with the key → owns it and no other, and finds what the key created', async () => {
    const made = await world
      .as(key)
      .post('/v1/admin/providers', { type: 'openai', name: 'A', secret: 'sk-a-long-one' });
    const answer = await signUpAt(browserOf(world), newSignUp({ bootstrapKey: key }));
    expect(answer.status).toBe(200);
    expect(answer.text).not.toContain(key);
    const cookie = sessionCookieOf(answer);
    const session = await sessionOf(cookie);
    expect(session).toMatchObject({ organization: { id: organizationId, claimed: true }, role: 'owner' });
    expect(session.memberships).toHaveLength(1);
    expect((await browserOf(world, { cookie }).get('/v1/admin/providers')).body.providers).toEqual([
      made.body.provider,
    ]);
    const trail = await auditEntries(world, organizationId);
    expect(trail.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['organization.claimed', 'member.role_changed', 'session.opened']),
    );
  });

  it('the key afterwards → still manages, no longer as an owner', async () => {
    await signUpAt(browserOf(world), newSignUp({ bootstrapKey: key }));
    const { session } = (await world.as(key).get(SESSION)).body;
    expect(session).toMatchObject({ organization: { id: organizationId, claimed: true }, role: 'admin' });
    const provider = { type: 'openai', name: 'B', secret: 'sk-another-long-one' };
    expect((await world.as(key).post('/v1/admin/providers', provider)).status).toBe(201);
  });

  it('registration is closed → the key of an unclaimed account opens it, once', async () => {
    await signUpAt(browserOf(world), newSignUp({ bootstrapKey: (await openedAccount(world)).key }));
    expect(codeOf(await signUpAt(browserOf(world), newSignUp()))).toEqual([403, 'registration_disabled']);
    expect((await signUpAt(browserOf(world), newSignUp({ bootstrapKey: key }))).status).toBe(200);
    expect(codeOf(await signUpAt(browserOf(world), newSignUp({ bootstrapKey: key })))).toEqual([409, 'conflict']);
  });

  it('later: a person with an organization → owns this one too, and acts in it', async () => {
    const { owner, organizationId: own } = await newOrganization(world);
    const answer = await browserOf(world, owner).post(CLAIM, { bootstrapKey: key });
    expect(answer.status).toBe(200);
    expect(answer.body.session).toMatchObject({ organization: { id: organizationId, claimed: true }, role: 'owner' });
    const chosen = setCookieOf(answer, 'gw_identity_current_organization')?.split(';')[0];
    const { session } = (await clientOf(world, `${owner.cookie}; ${chosen}`).get(SESSION)).body;
    expect(session.organization.id).toBe(organizationId);
    expect(session.memberships.map((one: { organization: { id: string } }) => one.organization.id).sort()).toEqual(
      [own, organizationId].sort(),
    );
    expect(codeOf(await browserOf(world, owner).post(CLAIM, { bootstrapKey: key }))).toEqual([409, 'conflict']);
  });

  it('a person without an organization → owns it', async () => {
    const nobody = await newPerson(world, {});
    expect((await browserOf(world, nobody).post(CLAIM, { bootstrapKey: key })).status).toBe(200);
    expect((await nobody.client.get(SESSION)).body.session.organization.id).toBe(organizationId);
  });

  it.each<[string, () => Promise<string> | string]>([
    ['no key of ours', () => newManagementKey()],
    ['something else', () => 'x'],
    [
      'a management key that a member was given',
      async () => (await newMember(world.dataSource, organizationId, {})).key,
    ],
    [
      'the key, which is revoked',
      async () => {
        await world.dataSource.query('UPDATE management_keys SET revoked_at = now() WHERE organization_id = $1', [
          organizationId,
        ]);
        return key;
      },
    ],
  ])('%s → 403 at sign-up and later, and the account stays unclaimed', async (_what, make) => {
    const bootstrapKey = await make();
    const typed = newSignUp({ bootstrapKey });
    expect(codeOf(await signUpAt(browserOf(world), typed))).toEqual([403, 'forbidden']);
    const person = await newPerson(world, {});
    const refused = await browserOf(world, person).post(CLAIM, { bootstrapKey });
    expect(codeOf(refused)).toEqual([403, 'forbidden']);
    expect(refused.body.error.message).toMatch(/^bootstrapKey: /);
    expect((await person.client.get(SESSION)).body.session.organization).toBeNull();
    const people = await world.dataSource.query('SELECT FROM identities WHERE email = $1', [typed.email]);
    expect(people).toHaveLength(0);
    expect(JSON.stringify(world.logs)).not.toContain(key);
  });

  it('no key, one that is not text, and one besides an invitation → 400 naming it', async () => {
    const person = await newPerson(world, {});
    for (const body of [{}, { bootstrapKey: 7 }, { bootstrapKey: '' }, { bootstrapKey: 'k'.repeat(301) }]) {
      const answer = await browserOf(world, person).post(CLAIM, body);
      expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringMatching(/^bootstrapKey: /)]);
    }
    const both = await signUpAt(browserOf(world), newSignUp({ bootstrapKey: key, invitationToken: 'a-token' }));
    expect([both.status, both.body.error.message]).toEqual([400, expect.stringMatching(/^bootstrapKey: /)]);
  });

  it('a key instead of a person → 403 session_required: the key itself cannot become an owner again', async () => {
    expect(
      codeOf(await world.as(key).post(CLAIM, { bootstrapKey: key }, { headers: { 'x-forwarded-for': newAddress() } })),
    ).toEqual([403, 'session_required']);
  });

  it('guesses from one address → 429 after ten', async () => {
    const { cookie } = await newPerson(world, {});
    const browser = browserOf(world, { cookie, address: newAddress() });
    const statuses: number[] = [];
    for (let guess = 0; guess < 11; guess++) {
      statuses.push((await browser.post(CLAIM, { bootstrapKey: newManagementKey() })).status);
    }
    expect(statuses).toEqual([...Array(10).fill(403), 429]);
  });
});

describeWithRedis('several who prove the bootstrap key at once, on two instances', () => {
  let redis: Awaited<ReturnType<typeof reachRedis>>;
  let world: World;
  let other: FurtherInstance;

  beforeAll(async () => {
    redis = await reachRedis();
    world = await startConsoleWorld({ env: { REDIS_URL: redis.url } });
    other = await startFurtherInstance(world);
  });
  afterAll(async () => {
    await other?.stop();
    await world?.stop();
    await redis?.stop();
  });

  it('sign-ups and claims → one owner; the others get no account, or keep their own', async () => {
    for (let round = 0; round < 4; round++) {
      const { key, organizationId } = await openedAccount(world);
      const people = await Promise.all([newPerson(world, {}), newPerson(world, {})]);
      const typed = [newSignUp({ bootstrapKey: key }), newSignUp({ bootstrapKey: key })];
      const answers = await Promise.all([
        ...typed.map((one, index) => signUpAt(browserOf(index === 0 ? world : other), one)),
        ...people.map(({ cookie }, index) =>
          browserOf(index === 0 ? world : other, { cookie }).post(CLAIM, { bootstrapKey: key }),
        ),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
      const owners: unknown[] = await world.dataSource.query(
        "SELECT FROM memberships WHERE organization_id = $1 AND role = 'owner'",
        [organizationId],
      );
      expect(owners).toHaveLength(1);
      const registeredNow: unknown[] = await world.dataSource.query('SELECT FROM identities WHERE email = ANY($1)', [
        typed.map(({ email }) => email),
      ]);
      expect(registeredNow).toHaveLength(answers.slice(0, 2).filter(({ status }) => status === 200).length);
    }
  });
});
