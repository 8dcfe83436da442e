import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { firstOrganizationId, newAccount } from '../../support/accounts/accounts.js';
import { clientOf, newPerson, newSession, organizationCookie } from '../../support/accounts/people.js';
import { startWorld, type World } from '../../support/world.js';

const PATH = '/v1/admin/provider-gateways';
const PROVIDER = { type: 'openai', name: 'Second', slug: 'of-second', secret: 'sk-test-1234' };

function toBrowsers(headers: Readonly<Record<string, unknown>>): unknown[] {
  return [headers['cache-control'], headers['x-frame-options'], headers['referrer-policy']];
}

let world: World;
let organizationId: string;

beforeAll(async () => {
  world = await startWorld();
  organizationId = await firstOrganizationId(world.dataSource);
});

afterAll(() => world.stop());

describe('the session of the console on management routes', () => {
  it('cookie and console header → the person, with the current role', async () => {
    const person = await newPerson(world, { organizationId, role: 'member' });
    expect((await person.client.get(PATH)).status).toBe(200);
    expect((await person.client.post('/v1/admin/providers', PROVIDER)).body.error.code).toBe('forbidden');
    await world.dataSource.query("UPDATE memberships SET role = 'admin' WHERE identity_id = $1", [person.identityId]);
    expect((await person.client.post('/v1/admin/providers', PROVIDER)).status).toBe(201);
  });

  it('the cookie without the header → 401, even for reading', async () => {
    const { cookie } = await newPerson(world, { organizationId });
    const answer = await world.with({ cookie }).get(PATH);
    expect({ status: answer.status, code: answer.body.error.code }).toEqual({ status: 401, code: 'auth_required' });
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="management"');
  });

  it('a cookie with another signature → 401', async () => {
    const { cookie } = await newPerson(world, { organizationId });
    const forged = `${cookie.slice(0, -4)}${cookie.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`;
    expect((await clientOf(world, forged).get(PATH)).status).toBe(401);
  });

  it('a second session cookie, as a neighbouring host may set one → 400, whichever comes first', async () => {
    const [person, planted] = [await newPerson(world, { organizationId }), await newPerson(world, { organizationId })];
    for (const [first, second] of [
      [planted.cookie, person.cookie],
      [person.cookie, `theme=dark; ${planted.cookie}`],
      [person.cookie, person.cookie.replace('=', ' =')],
    ]) {
      for (const path of [PATH, '/v1/auth/get-session']) {
        const { status, body } = await clientOf(world, `${first}; ${second}`).get(path);
        expect([status, body.error]).toEqual([
          400,
          { code: 'invalid_request', message: 'Cookie: holds gw_identity_auth.session_token more than once' },
        ]);
      }
    }
    expect((await clientOf(world, `theme=dark; ${person.cookie}; x=${person.cookie}`).get(PATH)).status).toBe(200);
  });

  it('an ended session → 401 from the next request on', async () => {
    const person = await newPerson(world, { organizationId });
    expect((await person.client.get(PATH)).status).toBe(200);
    await world.dataSource.query('DELETE FROM sessions WHERE id = $1', [person.sessionId]);
    expect((await person.client.get(PATH)).status).toBe(401);
  });

  it('an expired session → 401', async () => {
    const person = await newPerson(world, { organizationId, sessionEndsAt: new Date(Date.now() - 1_000) });
    expect((await person.client.get(PATH)).status).toBe(401);
  });

  it('a session renewed more than a day ago → its cookie is set again, with its flags', async () => {
    const person = await newPerson(world, { organizationId });
    expect((await person.client.get(PATH)).headers.get('set-cookie')).toBeNull();
    await world.dataSource.query(
      "UPDATE sessions SET renewed_at = now() - interval '1 day 1 minute', expires_at = now() + interval '1 hour' WHERE id = $1",
      [person.sessionId],
    );
    const answer = await person.client.get(PATH);
    expect(answer.headers.get('set-cookie')).toBe(`${person.cookie}; Max-Age=604800; Path=/; HttpOnly; SameSite=Lax`);
    const [row] = await world.dataSource.query(
      "SELECT expires_at > now() + interval '6 days' AS lives FROM sessions WHERE id = $1",
      [person.sessionId],
    );
    expect(row).toEqual({ lives: true });
  });

  it('the organization cookie → selects one of the person’s organizations; any other is ignored', async () => {
    const other = await newAccount(world.dataSource);
    const foreign = await newAccount(world.dataSource);
    const person = await newPerson(world, { organizationId });
    await world.dataSource.query("INSERT INTO memberships VALUES ($1, $2, 'member', now())", [
      other.organizationId,
      person.identityId,
    ]);
    const ask = (id: string) =>
      clientOf(world, `${person.cookie}; ${organizationCookie(world, id)}`).post('/v1/admin/providers', {
        ...PROVIDER,
        slug: `of-${id.slice(-6)}`,
      });
    expect((await ask(organizationId)).status).toBe(201);
    expect((await ask(other.organizationId)).body.error.code).toBe('forbidden');
    expect((await ask(foreign.organizationId)).status).toBe(201);
    const [row] = await world.dataSource.query('SELECT organization_id FROM providers WHERE slug = $1', [
      `of-${foreign.organizationId.slice(-6)}`,
    ]);
    expect(row).toEqual({ organization_id: organizationId });
  });

  it('a person without an organization → 403 no_eligible_organization; with an expired account → 403 account_expired', async () => {
    const nobody = await newPerson(world, {});
    expect((await nobody.client.get(PATH)).body.error.code).toBe('no_eligible_organization');
    const over = await newAccount(world.dataSource);
    await world.dataSource.query("UPDATE organizations SET expires_at = now() - interval '1 second' WHERE id = $1", [
      over.organizationId,
    ]);
    const late = await newPerson(world, { organizationId: over.organizationId });
    expect((await late.client.get(PATH)).body.error.code).toBe('account_expired');
    const { cookie } = await newSession(world, late.identityId);
    await world.dataSource.query("INSERT INTO memberships VALUES ($1, $2, 'member', now())", [
      organizationId,
      late.identityId,
    ]);
    expect((await clientOf(world, cookie).get(PATH)).status).toBe(200);
  });

  it('a bearer token besides the cookie → the bearer counts', async () => {
    const { cookie } = await newPerson(world, { organizationId });
    const answer = await world.with({ cookie, 'x-console-request': '1', authorization: 'Bearer nonsense' }).get(PATH);
    expect(answer.status).toBe(401);
  });

  it('every answer → not cached, not framed', async () => {
    const { headers } = await world.api.get(PATH);
    expect(toBrowsers(Object.fromEntries(headers))).toEqual(['no-store', 'DENY', 'no-referrer']);
  });

  it('a refusal of repeated headers → neither', async () => {
    const message = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = ['host', 'localhost', 'authorization', 'Bearer one', 'authorization', 'Bearer two'];
      request(world.baseUrl + PATH, { headers }, resolve)
        .on('error', reject)
        .end();
    });
    message.resume();
    expect(message.statusCode).toBe(400);
    expect(toBrowsers(message.headers)).toEqual(['no-store', 'DENY', 'no-referrer']);
  });

  it.each([
    ['a broken escape', '/v1/cli/%zz'],
    ['a part that is too long', `/v1/admin/apps/${'a'.repeat(1_025)}`],
  ])('a refusal of %s in the path → neither', async (_name, path) => {
    const { status, headers } = await world.api.get(path);
    expect(status).toBe(400);
    expect(toBrowsers(Object.fromEntries(headers))).toEqual(['no-store', 'DENY', 'no-referrer']);
  });
});
