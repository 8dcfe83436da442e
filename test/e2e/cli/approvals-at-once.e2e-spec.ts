import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { newOrganization } from '../../support/accounts/people.js';
import { ApprovalBrowser, proofIn, Terminal } from '../../support/cli/terminal.js';
import { startWorld, type World } from '../../support/world.js';

/** Few enough that concurrent approvals need all of them. */
const CONNECTIONS = 2;
const AT_ONCE = 15;
let world: World;

beforeAll(async () => {
  world = await startWorld({
    env: { REDIS_URL: '', DATABASE_POOL_SIZE: String(CONNECTIONS), TRUSTED_PROXIES: '127.0.0.1/32' },
  });
});
afterAll(() => world.stop());

/** Holds a named lock until released. */
async function holding(name: string, during: () => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: world.databaseUrl });
  await client.connect();
  await client.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [name]);
  await during().finally(() => client.end());
}

it(`${AT_ONCE} approvals and ${AT_ONCE} logins at once on a pool of ${CONNECTIONS} → all succeed`, async () => {
  const { owner } = await newOrganization(world);
  const opened = await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, at) => {
      const terminal = new Terminal(world, `203.0.113.${at}`);
      const login = await terminal.open();
      expect(login.status).toBe(200);
      return { id: terminal.id, proof: proofIn(login), browser: new ApprovalBrowser(world, owner.cookie) };
    }),
  );
  const approved = await Promise.all(opened.map(({ browser, id, proof }) => browser.approve(id, proof)));
  expect(approved.map(({ status }) => status)).toEqual(Array(AT_ONCE).fill(200));
});

it('others hold the lock of an address → its logins are refused soon and block nobody', async () => {
  await holding('cli login of 198.51.100.1', async () => {
    const refused = Array.from({ length: 2 * CONNECTIONS }, () => new Terminal(world, '198.51.100.1').open());
    expect((await new Terminal(world, '198.51.100.2').open()).status).toBe(200);
    for (const { status, headers, body } of await Promise.all(refused)) {
      expect([status, headers.get('retry-after'), body.error.code]).toEqual([429, '1', 'rate_limited']);
    }
  });
  expect((await new Terminal(world, '198.51.100.1').open()).status).toBe(200);
});
