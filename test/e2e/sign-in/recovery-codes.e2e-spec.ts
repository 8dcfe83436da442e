import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { clientOf } from '../../support/accounts/people.js';
import type { ApiClient } from '../../support/api-client.js';
import { FakeClock } from '../../support/clock.js';
import { startWorld, type World } from '../../support/world.js';

const PASSWORD = 'correct horse battery';
const NEW_PASSWORD = 'staple battery horse';

let clock: FakeClock;
let world: World;
let people = 0;

beforeAll(async () => {
  clock = new FakeClock();
  const env = { ALLOW_ADDITIONAL_REGISTRATIONS: 'true', TRUSTED_PROXIES: '127.0.0.1/32' };
  world = await startWorld({ env, clock });
});

afterAll(() => world.stop());

/** A page without a session, with a separate address. */
function visitor(): ApiClient {
  const address = `198.51.100.${(people++ % 250) + 1}`;
  return world.with({ origin: world.consoleOrigin, 'x-forwarded-for': address });
}

async function newPerson(): Promise<{ email: string; client: ApiClient }> {
  const email = `person-${people++}@example.com`;
  const body = { name: 'A person', email, password: PASSWORD };
  const { headers } = await visitor().post('/v1/auth/sign-up/email', body);
  return { email, client: clientOf(world, (headers.getSetCookie()[0] ?? '').split(';')[0] ?? '') };
}

const recover = (email: string, code: string, newPassword = NEW_PASSWORD) =>
  visitor().post('/v1/auth/recover', { email, code, newPassword });
const signIn = (email: string, password: string) => visitor().post('/v1/auth/sign-in/email', { email, password });

async function newCodes(client: ApiClient): Promise<string[]> {
  const { status, body } = await client.post('/v1/auth/recovery-codes');
  expect(status).toBe(200);
  return body.codes;
}

const unused = async (client: ApiClient) => (await client.get('/v1/auth/recovery-codes')).body.unused;

describe('recovery codes', () => {
  it('created → ten codes, shown once, stored as password hashes', async () => {
    const { client } = await newPerson();
    expect(await unused(client)).toBe(0);
    const codes = await newCodes(client);
    expect(new Set(codes).size).toBe(10);
    for (const code of codes) expect(code).toMatch(/^\d[0-9a-z]{3}(?:-[0-9a-z]{4}){3}$/);
    expect(await unused(client)).toBe(10);
    const rows: { text: string }[] = await world.dataSource.query('SELECT c::text AS text FROM recovery_codes c');
    for (const { text } of rows) expect(text).toContain('$argon2id$');
    const stored = JSON.stringify([rows, world.logs]);
    for (const code of codes) {
      expect(stored).not.toContain(code);
      expect(stored).not.toContain(code.replaceAll('-', ''));
    }
  });

  it('used → a new password, a new session, every other one ended; the others of the set still work', async () => {
    const { email, client } = await newPerson();
    const [one = '', two = ''] = await newCodes(client);
    const recovered = await recover(email.toUpperCase(), one.toUpperCase().replaceAll('-', ' '));
    expect([recovered.status, recovered.body.user.email]).toEqual([200, email]);
    expect((await client.get('/v1/auth/recovery-codes')).status).toBe(401);
    const cookie = (recovered.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
    expect(await unused(clientOf(world, cookie))).toBe(9);
    expect((await signIn(email, PASSWORD)).status).toBe(401);
    expect((await signIn(email, NEW_PASSWORD)).status).toBe(200);
    expect((await recover(email, two)).status).toBe(200);
    const actions = await world.dataSource.query(
      "SELECT action FROM audit_events WHERE action LIKE 'recovery%' AND actor_id = $1 ORDER BY id",
      [recovered.body.user.id],
    );
    expect(actions.map(({ action }: { action: string }) => action)).toEqual([
      ...['recovery_codes.replaced', 'recovery_code.used', 'recovery_code.used'],
    ]);
  });

  it('used again, wrong, of another person, of nobody, or not a code → the same 401', async () => {
    const [mine, theirs] = [await newPerson(), await newPerson()];
    const [one = '', two = ''] = await newCodes(mine.client);
    const [other = ''] = await newCodes(theirs.client);
    expect((await recover(mine.email, one)).status).toBe(200);
    const wrong = `${two.slice(0, -1)}${two.endsWith('0') ? '1' : '0'}`;
    const refused = [
      await recover(mine.email, one),
      await recover(mine.email, wrong),
      await recover(mine.email, other),
      await recover('nobody@example.com', two),
      await recover(mine.email, 'code'),
    ];
    const answers = refused.map(({ status, body }) => [status, body.error.code, body.error.message]);
    expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toEqual(
      new Set([JSON.stringify([401, 'auth_required', 'Wrong e-mail or recovery code.'])]),
    );
    expect((await recover(mine.email, two)).status).toBe(200);
  });

  it('the same code six times at once → one succeeds', async () => {
    const { email, client } = await newPerson();
    const [code = ''] = await newCodes(client);
    const statuses = await Promise.all(Array.from({ length: 6 }, async () => (await recover(email, code)).status));
    expect(statuses.sort()).toEqual([200, 401, 401, 401, 401, 401]);
  });

  it('replaced → the old set no longer works; two replacements at once → one set', async () => {
    const { email, client } = await newPerson();
    const [old = ''] = await newCodes(client);
    const [one, two] = await Promise.all([newCodes(client), newCodes(client)]);
    expect(await unused(client)).toBe(10);
    expect((await recover(email, old)).status).toBe(401);
    const statuses = [(await recover(email, one[0] ?? '')).status, (await recover(email, two[0] ?? '')).status];
    expect(statuses.sort()).toEqual([200, 401]);
  });

  it('a session older than 15 minutes → 403, and the old codes stay valid', async () => {
    const { email, client } = await newPerson();
    const [code = ''] = await newCodes(client);
    clock.advance(15 * 60_000);
    expect((await client.post('/v1/auth/recovery-codes')).status).toBe(403);
    expect((await recover(email, code)).status).toBe(200);
  });

  it('a common new password → 400 naming its field, and the code stays valid', async () => {
    const { email, client } = await newPerson();
    const [code = ''] = await newCodes(client);
    const refused = await recover(email, code, 'password123');
    expect([refused.status, refused.body.error.message]).toEqual([400, expect.stringMatching(/^newPassword: /)]);
    expect(await unused(client)).toBe(10);
  });

  it('eleven attempts for one e-mail address in ten minutes → 429, whatever the IP address', async () => {
    const email = 'guessed@example.com';
    for (let at = 0; at < 10; at++) expect((await recover(email, '0abcdefghijk0123')).status).toBe(401);
    const refused = await recover(email, '0abcdefghijk0123');
    expect([refused.status, refused.body.error.data.scope]).toEqual([429, 'sign_in_email']);
  });
});
