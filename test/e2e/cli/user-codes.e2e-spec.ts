import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { QueryRunner } from 'typeorm';
import { codeOf } from '../../support/api-client.js';
import { ApprovalBrowser, proofIn, Terminal } from '../../support/cli/terminal.js';
import { FakeClock } from '../../support/clock.js';
import { startWorld, type World } from '../../support/world.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const WRONG_CODE = 'AAAA-AAAA';

/** At the beginning of an hour: what a test types within one is counted in one window. */
const clock = new FakeClock(Math.floor(Date.now() / HOUR_MS) * HOUR_MS);
let world: World;

beforeAll(async () => {
  world = await startWorld({ clock, env: { REDIS_URL: '', TRUSTED_PROXIES: '127.0.0.1/32' } });
});
beforeEach(() => clock.advance(HOUR_MS));
afterAll(() => world.stop());

const browserAt = (address: string) => new ApprovalBrowser(world, undefined, address);

/** Types wrong codes from as many addresses as needed. */
async function typeWrongCodes(count: number): Promise<number[]> {
  const statuses: number[] = [];
  for (let at = 0; at < count; at += 10) {
    const browser = browserAt(`198.51.100.${1 + Math.floor(at / 10)}`);
    const answers = Array.from({ length: Math.min(10, count - at) }, () => browser.lookup(WRONG_CODE));
    for (const { status } of await Promise.all(answers)) statuses.push(status);
  }
  return statuses;
}

describe('guessing user codes', () => {
  it('a wrong, malformed or blank code → found: false, all indistinguishable', async () => {
    const browser = browserAt('203.0.113.1');
    for (const code of [WRONG_CODE, 'x', '0000-0000', 'ABCDEFGHJ', '🙂']) {
      const { status, body } = await browser.lookup(code);
      expect([status, body]).toEqual([200, { found: false }]);
    }
  });

  it('the eleventh lookup from an address within a minute → 429; another address → 200', async () => {
    const browser = browserAt('203.0.113.2');
    for (let at = 0; at < 10; at++) expect((await browser.lookup(WRONG_CODE)).status).toBe(200);
    const { status, body } = await browser.lookup(WRONG_CODE);
    expect([status, body.error.data.scope]).toEqual([429, 'user_code']);
    expect((await browserAt('203.0.113.3').lookup(WRONG_CODE)).status).toBe(200);
  });

  it('600 wrong codes from many addresses → no code works for the rest of the hour, links do', async () => {
    const terminal = new Terminal(world, '203.0.113.4');
    const opened = await terminal.open();
    expect(new Set(await typeWrongCodes(600))).toEqual(new Set([200]));
    const right = await browserAt('203.0.113.5').lookup(opened.body.userCode);
    expect([right.status, right.body.error.data]).toEqual([
      429,
      expect.objectContaining({ scope: 'user_code_total', limit: 600, windowSeconds: 3600 }),
    ]);
    expect(world.logs).toContainEqual(expect.objectContaining({ message: 'user_codes_refused', level: 'warn' }));
    const browser = browserAt('203.0.113.6');
    expect(codeOf(await browser.details(terminal.id, opened.body.userCode))).toEqual([429, 'rate_limited']);
    expect((await browser.details(terminal.id, proofIn(opened))).status).toBe(200);
  });

  it.each([
    ['details', {}],
    ['submit', { approve: true }],
    ['deny', {}],
    ['register', { name: 'x', email: 'x@example.com', password: 'a long way to go' }],
    ['google', {}],
  ])(
    'ten wrong codes from an address at %s → no code works from there, on any route; a link, and another address do',
    async (step, members) => {
      const terminal = new Terminal(world, '203.0.113.40');
      const opened = await terminal.open();
      const { userCode } = opened.body;
      const browser = browserAt('203.0.113.41');
      for (let at = 0; at < 10; at++) {
        const answer = await browser.post(`${terminal.id}/${step}`, { submissionToken: WRONG_CODE, ...members });
        expect(codeOf(answer)).toEqual([403, 'forbidden']);
      }
      const refused = await browser.details(terminal.id, userCode);
      expect([refused.status, refused.body.error.data.scope]).toEqual([429, 'user_code_wrong']);
      expect((await browser.lookup(userCode)).status).toBe(429);
      expect((await browser.details(terminal.id, proofIn(opened))).status).toBe(200);
      expect((await browserAt('203.0.113.42').details(terminal.id, userCode)).status).toBe(200);
    },
  );

  it.each([
    ['to open it', {}],
    ['to approve, without the tick', { step: 'approve' }],
    ['to sign out', { step: 'sign-out' }],
    ['to deny', { step: 'deny' }],
  ])('wrong codes in the form of the page, %s → counted, each once', async (_what, members) => {
    const terminal = new Terminal(world, '203.0.113.50');
    const { body } = await terminal.open();
    const send = (submissionToken: string) =>
      fetch(`${world.consoleOrigin}/cli/approve/${terminal.id}`, {
        method: 'POST',
        headers: { origin: world.consoleOrigin, 'x-forwarded-for': '203.0.113.51' },
        body: new URLSearchParams({ submissionToken, ...members }),
      });
    for (let at = 0; at < 10; at++) expect((await send(WRONG_CODE)).status).toBe(403);
    expect((await send(body.userCode)).status).toBe(429);
    expect((await browserAt('203.0.113.52').details(terminal.id, body.userCode)).status).toBe(200);
  });

  it('wrong codes at steps → count in the total, as lookups do', async () => {
    const terminal = new Terminal(world, '203.0.113.60');
    const { body } = await terminal.open();
    await typeWrongCodes(599);
    expect((await browserAt('203.0.113.61').details(terminal.id, WRONG_CODE)).status).toBe(403);
    expect((await browserAt('203.0.113.62').lookup(body.userCode)).body.error.data.scope).toBe('user_code_total');
  });

  it('right codes → not counted as wrong ones; the next hour → codes work again', async () => {
    await typeWrongCodes(599);
    const terminal = new Terminal(world, '203.0.113.7');
    const { body } = await terminal.open();
    for (let at = 0; at < 5; at++) {
      expect((await browserAt(`203.0.113.${20 + at}`).lookup(body.userCode)).body.found).toBe(true);
    }
    clock.advance(MINUTE_MS);
    await typeWrongCodes(1);
    expect((await browserAt('203.0.113.30').lookup(body.userCode)).status).toBe(429);
    clock.advance(HOUR_MS);
    expect((await browserAt('203.0.113.31').lookup(body.userCode)).status).toBe(200);
  });

  it('a right code among 100 000 pending logins → found by an index, not slowed down by other logins', async () => {
    const { body } = await new Terminal(world, '203.0.113.8').open();
    await world.dataSource.query(
      `INSERT INTO cli_operations (id, kind, state, user_code_mac, created_at, expires_at, kept_until)
       SELECT 'op:many' || n, 'login', 'pending', 'mac' || n, $1, $2, $2 FROM generate_series(1, 100000) n`,
      [clock.now(), new Date(clock.nowMs() + MINUTE_MS)],
    );
    await world.dataSource.query('ANALYZE cli_operations');
    const { createQueryRunner } = world.requestDataSource;
    let asked: Parameters<QueryRunner['query']> | undefined;
    const spy = jest.spyOn(world.requestDataSource, 'createQueryRunner').mockImplementation((...of) => {
      const runner = createQueryRunner.apply(world.requestDataSource, of);
      const query = runner.query.bind(runner);
      runner.query = (text: string, ...rest: [never]) => {
        if (text.includes('user_code_mac')) asked = [text, ...rest];
        return query(text, ...rest);
      };
      return runner;
    });
    expect((await browserAt('203.0.113.9').lookup(body.userCode)).body.found).toBe(true);
    spy.mockRestore();
    if (asked === undefined) throw new Error('the code was not looked up');
    const [row] = await world.dataSource.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${asked[0]}`, asked[1]);
    const [{ Plan: plan }] = row['QUERY PLAN'];
    expect(JSON.stringify(plan)).toMatch(/"Index Name":"cli_operations_user_code_key"/);
    expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThan(20);
  });

  it('many logins → each has a different code', async () => {
    const codes = new Set<string>();
    for (let at = 0; at < 60; at++) {
      const { body } = await new Terminal(world, `192.0.2.${at}`).open();
      codes.add(body.userCode);
    }
    expect(codes.size).toBe(60);
  });
});
