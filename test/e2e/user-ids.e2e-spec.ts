import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AppRef } from '../../src/app-directory/app-row.js';
import { UsersService } from '../../src/users/users.service.js';
import { firstOrganizationId } from '../support/accounts.js';
import { startWorld, type World } from '../support/world.js';

let world: World;
let users: UsersService;
let app: AppRef;

beforeAll(async () => {
  world = await startWorld();
  users = world.gateway.app.get(UsersService);
  app = { id: (await world.app()).id, organizationId: await firstOrganizationId(world.dataSource) };
});

afterAll(() => world.stop());

const usersUrl = (rest: string) => `/v1/admin/apps/${app.id}/users${rest}`;

/** A call whose path nobody tidies up, as `fetch` does. */
function rawCall(method: string, path: string): Promise<{ status: number | undefined; body: unknown }> {
  const { hostname, port } = new URL(world.baseUrl);
  const headers = { authorization: `Bearer ${world.managementKey}` };
  return new Promise((resolve, reject) => {
    request({ hostname, port, method, path, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode, body: JSON.parse(text) }));
    })
      .on('error', reject)
      .end();
  });
}

describe('a user id in the path', () => {
  it.each([
    'sI7+/zA/aQ9m+3wV1/0xBkPq8RrTt2YyUuIiOoPpAaS=',
    '100%',
    '%2F',
    'a b',
    'a?b#c&d',
    'müller 😀',
    'auth0|64ab;x',
    'v1',
    'block',
    '...',
    'u'.repeat(1_024),
    '\u0001'.repeat(1_024),
    'é'.repeat(512),
  ])('%s → read, blocked, unblocked', async (id) => {
    await users.seen(app, id);
    const url = usersUrl(`/${encodeURIComponent(id)}`);
    const { status, body } = await world.api.get(url);
    expect([status, body.app_id, body.user.id]).toEqual([200, app.id, id]);
    expect((await world.api.post(`${url}/block`)).body).toEqual({ app_id: app.id, user_id: id, blocked: true });
    expect((await world.api.post(`${url}/unblock`)).body).toEqual({ app_id: app.id, user_id: id, blocked: false });
  });

  it.each(['.', '..', '%2e'])('%s, encoded, from a client that leaves paths alone → that user', async (id) => {
    await users.seen(app, id);
    const encoded = encodeURIComponent(id).replaceAll('.', '%2E');
    const answer = await rawCall('POST', usersUrl(`/${encoded}/block`));
    expect(answer).toEqual({ status: 200, body: { app_id: app.id, user_id: id, blocked: true } });
    expect(await rawCall('GET', usersUrl(`/${encoded}`))).toMatchObject({ status: 200, body: { user: { id } } });
  });

  it.each([
    ['a NUL', 'a%00'],
    ['a broken escape', '%zz'],
    ['bytes that are no text', '%ff'],
    ['more characters than a parameter may have', 'u'.repeat(1_025)],
  ])('%s → 400', async (_what, encoded) => {
    expect((await rawCall('GET', usersUrl(`/${encoded}`))).status).toBe(400);
  });
});
