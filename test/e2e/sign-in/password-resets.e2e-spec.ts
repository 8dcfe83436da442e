import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { clientOf, newOrganization, newPerson, type Person } from '../../support/accounts/people.js';
import type { ApiClient } from '../../support/api-client.js';
import { FakeClock } from '../../support/clock.js';
import { startWorld, type World } from '../../support/world.js';

const PASSWORD = 'correct horse battery';
const NEW_PASSWORD = 'staple battery horse';
const DAY_MS = 24 * 60 * 60_000;

let clock: FakeClock;
let world: World;
let addresses = 0;

beforeAll(async () => {
  clock = new FakeClock();
  const env = { ALLOW_ADDITIONAL_REGISTRATIONS: 'true', TRUSTED_PROXIES: '127.0.0.1/32' };
  world = await startWorld({ env, clock });
});

afterAll(() => world.stop());

function visitor(): ApiClient {
  const address = `198.51.100.${(addresses++ % 250) + 1}`;
  return world.with({ origin: world.consoleOrigin, 'x-forwarded-for': address });
}

async function join(organizationId: string, identityId: string, role = 'member'): Promise<void> {
  await world.dataSource.query('INSERT INTO memberships VALUES ($1, $2, $3, now())', [
    organizationId,
    identityId,
    role,
  ]);
}

/** An organization whose owner has just signed in, and a member with a password who belongs to no other. */
async function company() {
  const { organizationId, owner } = await newOrganization(world);
  await world.dataSource.query('UPDATE sessions SET created_at = $2, renewed_at = $2 WHERE id = $1', [
    ...[owner.sessionId, new Date(clock.nowMs())],
  ]);
  const email = `member-${addresses++}@example.com`;
  const body = { name: 'A member', email, password: PASSWORD };
  const signedUp = await visitor().post('/v1/auth/sign-up/email', body);
  const { id } = signedUp.body.user;
  await world.dataSource.query('DELETE FROM memberships WHERE identity_id = $1', [id]);
  await join(organizationId, id);
  const cookie = (signedUp.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
  const client = world.with({
    ...{ cookie: owner.cookie, 'x-console-request': '1', origin: world.consoleOrigin },
    'x-forwarded-for': `198.51.100.${(addresses++ % 250) + 1}`,
  });
  return { organizationId, owner, client, member: { id, email, client: clientOf(world, cookie) } };
}

const linkFor = (client: ApiClient, id: string) => client.post(`/v1/admin/members/${id}/password-reset`);
const tokenOf = ({ body }: { body: { url: string } }) => new URL(body.url).hash.slice(1);
const redeem = (token: string, newPassword = NEW_PASSWORD) =>
  visitor().post('/v1/auth/reset-password', { token, newPassword });
const signIn = (email: string, password: string) => visitor().post('/v1/auth/sign-in/email', { email, password });

describe('links to set a new password', () => {
  it('created by an owner, used by the member → new password, sessions ended, nobody signed in; recorded in the audit trail', async () => {
    const { client, owner, member, organizationId } = await company();
    const link = await linkFor(client, member.id);
    expect([link.status, link.body]).toEqual([
      200,
      {
        url: expect.stringMatching(/\/reset#[0-9A-Za-z]{48}$/),
        expiresAt: new Date(clock.nowMs() + DAY_MS).toISOString(),
      },
    ]);
    const stored = await world.dataSource.query('SELECT r::text AS text FROM password_resets r');
    expect(JSON.stringify([stored, world.logs])).not.toContain(tokenOf(link));
    const used = await redeem(tokenOf(link));
    expect([used.status, used.body, used.headers.getSetCookie()]).toEqual([200, { reset: true }, []]);
    expect((await member.client.get('/v1/admin/session')).status).toBe(401);
    expect((await signIn(member.email, PASSWORD)).status).toBe(401);
    expect((await signIn(member.email, NEW_PASSWORD)).status).toBe(200);
    const trail = await world.dataSource.query(
      "SELECT action, actor_id, target_id FROM audit_events WHERE organization_id = $1 AND action LIKE 'password%' ORDER BY id",
      [organizationId],
    );
    expect(trail).toEqual([
      { action: 'password_reset.created', actor_id: owner.identityId, target_id: member.id },
      { action: 'password.reset', actor_id: member.id, target_id: member.id },
    ]);
  });

  it('used again, replaced, expired or made up → the same 404', async () => {
    const { client, member } = await company();
    const used = tokenOf(await linkFor(client, member.id));
    expect((await redeem(used)).status).toBe(200);
    const replaced = tokenOf(await linkFor(client, member.id));
    const expired = tokenOf(await linkFor(client, member.id));
    clock.advance(DAY_MS);
    const answers = [await redeem(used), await redeem(replaced), await redeem(expired), await redeem('x'.repeat(48))];
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.error.message}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(404);
    expect((await signIn(member.email, NEW_PASSWORD)).status).toBe(200);
  });

  it('used six times at once → one succeeds', async () => {
    const { client, member } = await company();
    const token = tokenOf(await linkFor(client, member.id));
    const statuses = await Promise.all(Array.from({ length: 6 }, async () => (await redeem(token)).status));
    expect(statuses.sort()).toEqual([200, 404, 404, 404, 404, 404]);
  });

  it('a common password → 400, and the link stays valid', async () => {
    const { client, member } = await company();
    const token = tokenOf(await linkFor(client, member.id));
    expect((await redeem(token, 'password123')).status).toBe(400);
    expect((await redeem(token)).status).toBe(200);
  });
});

describe('an owner whose link would reach other accounts', () => {
  it('the member belongs to an account of which the owner is not a member, or only an admin → 403 that says what to do', async () => {
    for (const role of [undefined, 'member', 'admin'] as const) {
      const { client, owner, member } = await company();
      const other = await newOrganization(world);
      await join(other.organizationId, member.id);
      if (role !== undefined) await join(other.organizationId, owner.identityId, role);
      const refused = await linkFor(client, member.id);
      expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden']);
      expect(refused.body.error.message).toMatch(/recovery code or a passkey/);
    }
  });

  it('the owner owns every account of the member → the link works', async () => {
    const { client, owner, member } = await company();
    const other = await newOrganization(world);
    await join(other.organizationId, member.id);
    await join(other.organizationId, owner.identityId, 'owner');
    expect((await redeem(tokenOf(await linkFor(client, member.id)))).status).toBe(200);
  });

  it('the member joins another account before the link is used → it no longer works', async () => {
    const { client, member } = await company();
    const token = tokenOf(await linkFor(client, member.id));
    const other = await newOrganization(world);
    await join(other.organizationId, member.id);
    expect((await redeem(token)).status).toBe(404);
    expect((await signIn(member.email, PASSWORD)).status).toBe(200);
  });

  it('the issuer is demoted, or the member removed, before the link is used → it no longer works', async () => {
    const demoted = await company();
    const first = tokenOf(await linkFor(demoted.client, demoted.member.id));
    await world.dataSource.query("UPDATE memberships SET role = 'admin' WHERE identity_id = $1", [
      demoted.owner.identityId,
    ]);
    expect((await redeem(first)).status).toBe(404);
    const removed = await company();
    const second = tokenOf(await linkFor(removed.client, removed.member.id));
    await world.dataSource.query('DELETE FROM memberships WHERE identity_id = $1', [removed.member.id]);
    expect((await redeem(second)).status).toBe(404);
  });
});

describe('who can create links, and for whom', () => {
  it('a person outside the account → 404; oneself → 409; a person without a password → 409', async () => {
    const [mine, theirs] = [await company(), await company()];
    expect((await linkFor(mine.client, theirs.member.id)).status).toBe(404);
    expect((await linkFor(mine.client, mine.owner.identityId)).status).toBe(409);
    const guest: Person = await newPerson(world, { organizationId: mine.organizationId, role: 'member' });
    expect((await linkFor(mine.client, guest.identityId)).status).toBe(409);
  });

  it('a service → 404', async () => {
    const { client, organizationId } = await company();
    await world.dataSource.query(
      "INSERT INTO identities (id, kind, created_at) VALUES ('service_x', 'service', now())",
    );
    await join(organizationId, 'service_x', 'admin');
    expect((await linkFor(client, 'service_x')).status).toBe(404);
  });

  it('an admin, a member, a management key → 403', async () => {
    const { member, organizationId } = await company();
    for (const role of ['admin', 'member'] as const) {
      const person = await newPerson(world, { organizationId, role });
      expect((await linkFor(person.client, member.id)).status).toBe(403);
    }
    expect((await linkFor(world.api, member.id)).body.error.code).toBe('session_required');
  });

  it('an owner whose sign-in is older than 15 minutes → 403', async () => {
    const { client, member } = await company();
    clock.advance(15 * 60_000);
    const refused = await linkFor(client, member.id);
    expect([refused.status, refused.body.error.message]).toEqual([403, expect.stringContaining('Sign in again')]);
  });
});
