import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AppRef } from '../../../src/app-directory/app.entity.js';
import { UsersService } from '../../../src/users/users.service.js';
import { firstOrganizationId } from '../../support/accounts/accounts.js';
import { startWorld, type World } from '../../support/world.js';

let world: World;
let users: UsersService;
let app: AppRef & { readonly key: string };

beforeAll(async () => {
  world = await startWorld();
  users = world.gateway.app.get(UsersService);
  const named = await world.app({ authentication: { type: 'api_key', end_user: { source: 'header' } } });
  app = { ...named, organizationId: await firstOrganizationId(world.dataSource) };
});

afterAll(() => world.stop());

/** @param encoded id, percent-encoded. */
const namedUrl = (action: string, encoded: string) => `/v1/admin/apps/${app.id}/user${action}?user_id=${encoded}`;

const blocked = async () => (await world.api.get(usersUrl('?status=blocked'))).body.total;

const usersUrl = (rest: string) => `/v1/admin/apps/${app.id}/users${rest}`;

/** A call whose path is not normalised, unlike with `fetch`. */
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

  it('%2e, encoded, from a client that does not normalise paths → that user', async () => {
    const id = '%2e';
    const encoded = encodeURIComponent(id).replaceAll('.', '%2E');
    const answer = await rawCall('POST', usersUrl(`/${encoded}/block`));
    expect(answer).toEqual({ status: 200, body: { app_id: app.id, user_id: id, blocked: true } });
    expect(await rawCall('GET', usersUrl(`/${encoded}`))).toMatchObject({ status: 200, body: { user: { id } } });
  });

  it.each(['.', '..'])(
    '%s, which URL software removes → not a valid id: not blocked, in the path or the query',
    async (id) => {
      const encoded = id.replaceAll('.', '%2E');
      for (const path of [usersUrl(`/${encoded}/block`), namedUrl('/block', encoded)]) {
        const { status, body } = await rawCall('POST', path);
        expect([status, body]).toMatchObject([400, { error: { message: expect.stringMatching(/^user_id: /) } }]);
      }
      expect((await rawCall('GET', usersUrl(`/${encoded}`))).status).toBe(404);
      const header = { authorization: `Bearer ${app.key}`, 'x-end-user-id': id };
      const me = await fetch(`${world.baseUrl}/v1/apps/${app.id}/me`, { headers: header });
      expect([me.status, JSON.parse(await me.text()).error]).toMatchObject([
        400,
        { code: 'invalid_request', message: 'x-end-user-id: must not be "." or ".."' },
      ]);
    },
  );

  it.each([
    ['a NUL', 'a%00'],
    ['a broken escape', '%zz'],
    ['bytes that are not text', '%ff'],
    ['more characters than a parameter may have', 'u'.repeat(1_025)],
  ])('%s → 400', async (_what, encoded) => {
    expect((await rawCall('GET', usersUrl(`/${encoded}`))).status).toBe(400);
  });

  it('more bytes than an id may have → no user, and no user is blocked', async () => {
    const encoded = encodeURIComponent('é'.repeat(513));
    expect((await rawCall('GET', usersUrl(`/${encoded}`))).status).toBe(404);
    expect((await rawCall('POST', usersUrl(`/${encoded}/block`))).status).toBe(400);
  });
});

describe('a user id in the query (ADR 0011)', () => {
  it.each([
    'team/ann+1',
    '/',
    '../../keys',
    'a//b',
    'block',
    'unblock',
    'a b',
    '%2F',
    'a?b#c&d=e',
    'müller 😀',
    '...',
    '\u0001'.repeat(1_024),
    'é'.repeat(512),
  ])('%s → blocked, read, unblocked, as exactly that user', async (id) => {
    const [encoded, of] = [encodeURIComponent(id), { app_id: app.id, user_id: id }];
    const answer = await world.api.post(namedUrl('/block', encoded));
    expect([answer.status, answer.body]).toEqual([200, { ...of, blocked: true }]);
    const read = await world.api.get(namedUrl('', `${encoded}&month=2026-01`));
    expect(read.body).toMatchObject({ month: '2026-01', user: { id, status: 'blocked' } });
    expect((await world.api.post(namedUrl('/unblock', encoded))).body).toEqual({ ...of, blocked: false });
    expect((await world.api.get(namedUrl('', encoded))).body.user.status).toBe('active');
  });

  it.each([
    ['absent', ''],
    ['empty', '?user_id='],
    ['given twice', '?user_id=a&user_id=b'],
    ['NUL', '?user_id=a%00'],
    ['too long', `?user_id=${'u'.repeat(1_025)}`],
    ['beside something unknown', '?user_id=a&colour=blue'],
  ])('%s → 400, and no user is blocked', async (_what, query) => {
    const path = `/v1/admin/apps/${app.id}/user`;
    const before = await blocked();
    expect((await world.api.get(`${path}${query}`)).status).toBe(400);
    expect((await world.api.post(`${path}/block${query}`)).status).toBe(400);
    expect((await world.api.post(`${path}/unblock${query}`)).status).toBe(400);
    expect(await blocked()).toBe(before);
  });

  it('no user with this id → 404', async () => {
    expect((await world.api.get(namedUrl('', 'nobody'))).body.error.code).toBe('not_found');
    expect((await world.api.post(namedUrl('/unblock', 'nobody'))).body.error.code).toBe('not_found');
  });

  it('user named block, in the path → that user', async () => {
    await users.seen(app, 'block');
    expect((await world.api.post(usersUrl('/block/block'))).body).toMatchObject({ user_id: 'block', blocked: true });
    expect((await world.api.get(usersUrl('/block'))).body.user).toMatchObject({ id: 'block', status: 'blocked' });
  });
});
