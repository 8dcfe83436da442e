import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { UsageLedgerRepository } from '../../../src/commands/ledger/usage-ledger.repository.js';
import { UsageLedger } from '../../../src/commands/ledger/usage-ledger.service.js';
import type { FakeClock } from '../../support/clock.js';
import { LimitedApp, startLimitedWorld } from '../../support/limits/requests/limited-app.js';
import { RESPONSE_USD } from '../../support/proxy/endpoint-chain.js';
import { type Answer, documentedRefusals } from '../../support/proxy/proxy-client.js';
import type { World } from '../../support/world.js';

const DAY_MS = 24 * 60 * 60 * 1_000;
const HOUR_MS = 60 * 60 * 1_000;
/** Two calls fit, the second one crossing. */
const TWO_CALLS_USD = 0.01;
/** A call uses 1 000 prompt tokens and 500 output tokens. */
const TOKENS = 1_500;

let world: World;
let clock: FakeClock;
let isDocumented: (answer: Answer) => void;

beforeAll(async () => {
  ({ world, clock } = await startLimitedWorld());
  isDocumented = documentedRefusals(world);
});

/** All counts of a test equal the sum of its events. */
afterEach(async () => {
  const ledger = new UsageLedger(new UsageLedgerRepository(world.dataSource), clock);
  expect((await ledger.verify()).findings).toEqual([]);
});

afterAll(() => world.stop());

const errorOf = (answer: Answer) => JSON.parse(answer.body.toString()).error;
const toNextMinute = () => clock.advance(60_000 - (clock.nowMs() % 60_000));

describe('limits of tokens', () => {
  it.each([
    ['user', 'per_minute', 'minute'],
    ['user', 'per_day', 'day'],
    ['app', 'per_minute', 'minute'],
    ['app', 'per_day', 'day'],
  ] as const)(
    '%s, %s → exceeded by at most one call, then refused until the window ends, then served',
    async (scope, member, window) => {
      const app = await LimitedApp.create(world, { [`per_${scope}`]: { tokens: { [member]: TOKENS + 1 } } });
      const before = clock.nowMs();
      expect(await app.calls(2)).toEqual([200, 200]);
      await app.recorded('ok', 2);
      const answer = await app.call();
      isDocumented(answer);
      expect([answer.status, errorOf(answer)]).toMatchObject([
        429,
        { code: 'app_rate_limited', data: { scope, window, limit: 'tokens' } },
      ]);
      const windowMs = window === 'minute' ? 60_000 : DAY_MS;
      const leftMs = windowMs - (clock.nowMs() % windowMs);
      expect(Number(answer.headers['retry-after'])).toBe(Math.ceil(leftMs / 1_000));
      if (scope === 'user') expect((await app.call('bob')).status).toBe(200);
      clock.advance(leftMs);
      expect((await app.call()).status).toBe(200);
      clock.advance(before - clock.nowMs());
    },
  );

  it('a user → sees the tokens of the day and what is left of them', async () => {
    const app = await LimitedApp.create(world, { per_user: { tokens: { per_day: 4_000 } } });
    expect(await app.standing()).toMatchObject({ tokens_today: 0, tokens_remaining: 4_000 });
    await app.call();
    await app.recorded('ok', 1);
    expect(await app.standing()).toMatchObject({ tokens_today: TOKENS, tokens_remaining: 4_000 - TOKENS });
    await app.limit({ per_user: { tokens: { per_minute: 4_000 } } });
    expect(await app.standing()).toMatchObject({ tokens_today: null, tokens_remaining: null });
  });
});

describe('groups', () => {
  const groups = (limits: object) => ({ groups: { team: { header: 'X-Team', ...limits } } });
  const of = (team: string) => ({ headers: ['x-end-user-id', 'ann', 'x-team', team] });

  it('the header → never reaches the provider; missing or unusable → 400 that names it', async () => {
    const app = await LimitedApp.create(world, groups({ spending: { monthly_usd: 1 } }));
    expect((await app.call('ann', of('blue'))).status).toBe(200);
    expect(world.upstream.requests.map((sent) => sent.header('x-team'))).not.toContain('blue');
    for (const options of [{}, of('x'.repeat(129)), of('')]) {
      const answer = await app.call('ann', options);
      isDocumented(answer);
      expect([answer.status, errorOf(answer)]).toMatchObject([
        400,
        { code: 'invalid_request', message: expect.stringContaining('x-team') },
      ]);
    }
  });

  it('a budget → applies to one value only and is named with its group; other values are served', async () => {
    const app = await LimitedApp.create(world, groups({ spending: { daily_usd: TWO_CALLS_USD } }));
    expect((await app.call('ann', of('blue'))).status).toBe(200);
    expect((await app.call('bob', of('blue'))).status).toBe(200);
    await app.recorded('ok', 2);
    const answer = await app.call('ann', of('blue'));
    isDocumented(answer);
    expect([answer.status, errorOf(answer)]).toMatchObject([
      429,
      {
        code: 'app_budget_exhausted',
        data: { scope: 'group', window: 'day', group: 'team', cost_usd: 2 * RESPONSE_USD },
      },
    ]);
    expect((await app.call('ann', of('red'))).status).toBe(200);
  });

  it('requests and tokens → counted by group, and refusals name their window', async () => {
    const app = await LimitedApp.create(world, groups({ requests: { per_minute: 2 }, tokens: { per_day: 9_000 } }));
    toNextMinute();
    for (const _ of [1, 2]) expect((await app.call('ann', of('blue'))).status).toBe(200);
    const refused = await app.refused('ann', of('blue'));
    expect(refused).toMatchObject({
      code: 'app_rate_limited',
      data: { scope: 'group', group: 'team', window: 'minute', limit: 'requests' },
    });
    expect((await app.call('ann', of('red'))).status).toBe(200);
    toNextMinute();
    await app.limit(groups({ tokens: { per_day: 2 * TOKENS } }));
    await app.recorded('ok', 3);
    expect((await app.refused('ann', of('blue'))).data).toEqual({
      ...{ scope: 'group', group: 'team', window: 'day', limit: 'tokens' },
    });
  });

  it('usage → grouped by value, earlier calls under no key', async () => {
    const app = await LimitedApp.create(world, {});
    await app.call();
    await app.recorded('ok', 1);
    await app.limit(groups({}));
    for (const team of ['blue', 'blue', 'red']) await app.call('ann', of(team));
    await app.recorded('ok', 4);
    const path = `/v1/admin/apps/${app.client.appId}/usage/breakdown?by=group:team`;
    const { status, body } = await world.api.get(path);
    expect([status, body.by]).toEqual([200, 'group:team']);
    expect(body.rows.map(({ key, requests }: { key: string; requests: number }) => [key, requests])).toEqual([
      ['blue', 2],
      ...[
        ['red', 1],
        [null, 1],
      ],
    ]);
    expect((await world.api.get(`${path.slice(0, -'team'.length)}TEAM`)).status).toBe(400);
    const ofAccount = await world.api.get(`/v1/admin/usage/breakdown?by=group:team&app=${app.client.appId}`);
    expect(ofAccount.body.rows[0]).toMatchObject({ key: 'blue', app_id: app.client.appId, requests: 2 });
  });

  it.each([
    ['more than three', { a: { header: 'x-a' }, b: { header: 'x-b' }, c: { header: 'x-c' }, d: { header: 'x-d' } }],
    ['neither header nor claim', { a: {} }],
    ['both', { a: { header: 'x-a', claim: 'org' } }],
    ['a claim without an issuer', { a: { claim: 'org' } }],
    ['a header that carries credentials', { a: { header: 'Authorization' } }],
    ['a header of runs', { a: { header: 'x-run-id' } }],
    ['a name with capitals', { Team: { header: 'x-a' } }],
  ])('%s → refused when it is configured', async (_name, configured) => {
    const app = await LimitedApp.create(world, {});
    await expect(app.limit({ groups: configured })).rejects.toThrow('400');
  });
});

describe('runs', () => {
  const run = (id: string, usd?: string) => ({
    headers: ['x-end-user-id', 'ann', 'x-run-id', id, ...(usd === undefined ? [] : ['x-run-budget-usd', usd])],
  });
  const RUNS = { runs: { max_usd: 0.02 } };

  it('a budget → exceeded by at most one call; another run, and the same id of another user, are served', async () => {
    const app = await LimitedApp.create(world, RUNS);
    for (const _ of [1, 2]) expect((await app.call('ann', run('loop 1', String(TWO_CALLS_USD)))).status).toBe(200);
    await app.recorded('ok', 2);
    const answer = await app.call('ann', run('loop 1'));
    isDocumented(answer);
    expect([answer.status, answer.headers['retry-after'], errorOf(answer)]).toMatchObject([
      429,
      undefined,
      { code: 'app_budget_exhausted', data: { scope: 'run', window: 'run', cost_usd: 2 * RESPONSE_USD } },
    ]);
    expect((await app.call('ann', run('loop 2'))).status).toBe(200);
    const ofBob = { headers: ['x-end-user-id', 'bob', 'x-run-id', 'loop 1'] };
    expect((await app.call('bob', ofBob)).status).toBe(200);
    const sent = world.upstream.requests.map(({ header }) => [header('x-run-id'), header('x-run-budget-usd')]);
    expect(sent.flat().filter((value) => value !== undefined)).toEqual([]);
  });

  it('the same id in another application → a separate run with its own amount', async () => {
    const [one, other] = [await LimitedApp.create(world, RUNS), await LimitedApp.create(world, RUNS)];
    for (const _ of [1, 2]) expect((await one.call('ann', run('shared', String(TWO_CALLS_USD)))).status).toBe(200);
    await one.recorded('ok', 2);
    expect((await one.call('ann', run('shared'))).status).toBe(429);
    expect((await other.call('ann', run('shared', '0.02'))).status).toBe(200);
  });

  it('first calls at once with different amounts → one amount starts the run, the others get 400', async () => {
    const app = await LimitedApp.create(world, RUNS);
    const amounts = Array.from({ length: 8 }, (_, at) => String(0.01 + at / 1_000));
    const answers = await Promise.all(amounts.map((usd) => app.call('ann', run('race', usd))));
    const begun = amounts.filter((_, at) => answers[at]?.status !== 400);
    expect(begun).toHaveLength(1);
    expect(
      errorOf(
        await app.call(
          'ann',
          run(
            'race',
            amounts.find((usd) => usd !== begun[0]),
          ),
        ),
      ),
    ).toMatchObject({
      message: expect.stringContaining('x-run-budget-usd'),
    });
    expect((await app.call('ann', run('race', begun[0]))).status).toBe(200);
  });

  it('an hour after its last call → the id starts a new run', async () => {
    const app = await LimitedApp.create(world, RUNS);
    const before = clock.nowMs();
    for (const _ of [1, 2]) await app.call('ann', run('loop', String(TWO_CALLS_USD)));
    await app.recorded('ok', 2);
    clock.advance(HOUR_MS - 1);
    expect((await app.call('ann', run('loop'))).status).toBe(429);
    clock.advance(HOUR_MS);
    expect((await app.call('ann', run('loop', '0.02'))).status).toBe(200);
    clock.advance(before - clock.nowMs());
  });

  it.each([
    ['another amount than the first', '0.02'],
    ['more than the application allows', '0.03'],
    ['nothing', '0'],
    ['no number', '1e-2'],
    ['seven decimals', '0.0100001'],
  ])('%s → 400 that names the header', async (_name, usd) => {
    const app = await LimitedApp.create(world, RUNS);
    expect((await app.call('ann', run('loop', String(TWO_CALLS_USD)))).status).toBe(200);
    const answer = await app.call('ann', run('loop', usd));
    isDocumented(answer);
    expect([answer.status, errorOf(answer).message]).toEqual([400, expect.stringContaining('x-run-budget-usd')]);
  });

  it.each([
    ['not allowed by the application', {}, run('loop')],
    ['an id that is too long', RUNS, run('x'.repeat(129))],
    ['an amount without an id', RUNS, { headers: ['x-end-user-id', 'ann', 'x-run-budget-usd', '0.01'] }],
  ])('%s → 400', async (_name, limits, options) => {
    const app = await LimitedApp.create(world, limits);
    const answer = await app.call('ann', options);
    isDocumented(answer);
    expect([answer.status, errorOf(answer).message]).toEqual([400, expect.stringContaining('x-run-id')]);
  });
});
