import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { ApiAnswer } from '../../../support/api-client.js';
import type { Phone } from '../../../support/client-auth/devices/phone.js';
import { type MobileWorld, startMobileWorld } from '../../../support/client-auth/exchange/mobile-world.js';
import { eventually } from '../../../support/eventually.js';
import { type FurtherInstance, startFurtherInstance } from '../../../support/platform/further-instance.js';
import { untilStatementWaits } from '../../../support/platform/lock-waits.js';
import { describeWithRedis, reachRedis, type TestRedis } from '../../../support/platform/redis.js';

const AT_ONCE = 20;
const MAX_KEYS = 20;
const ROUNDS = 50;
/** Distinguishes a notification from the refresh after five seconds. */
const TOLD_WITHIN_MS = 10_000;

let world: MobileWorld;
let other: FurtherInstance;
let slug: string;
let redis: Pick<TestRedis, 'url' | 'stop'>;

beforeAll(async () => {
  redis = await reachRedis();
  world = await startMobileWorld({ env: { REDIS_URL: redis.url } });
  ({ slug } = await world.provider());
  other = await startFurtherInstance(world);
});

afterAll(async () => {
  await other?.stop();
  await world?.stop();
  await redis?.stop();
});

type Instance = Pick<FurtherInstance, 'as' | 'baseUrl'>;

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

/** Every other call goes to the other instance. */
const instanceOf = (index: number): Instance => (index % 2 === 0 ? world : other);

/** Posts all of them at once, on both instances. */
function postAll(phone: Phone, route: string, bodies: readonly object[]): Promise<ApiAnswer[]> {
  return Promise.all(bodies.map((body, index) => phone.postTo(instanceOf(index), route, body)));
}

/** The number of answers by code; `ok` for success. */
function outcomes(answers: readonly ApiAnswer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { body } of answers) {
    const outcome = body.error?.code ?? 'ok';
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

interface StoredEvent {
  readonly outcome: string;
  readonly reason: string | null;
  readonly delay: string | null;
}

/** The events of both instances, once there are `count`. */
async function storedEvents(appId: string, event: string, count: number): Promise<StoredEvent[]> {
  const read = (): Promise<StoredEvent[]> =>
    world.dataSource.query(
      'SELECT outcome, reason, claim_delay_ms AS delay FROM auth_events WHERE app_id = $1 AND event = $2',
      [appId, event],
    );
  await eventually(async () => (await read()).length >= count, { withinMs: 10_000 });
  const events = await read();
  expect(events).toHaveLength(count);
  return events;
}

async function storedKeys(appId: string): Promise<{ userId: string; counter: number }[]> {
  return world.dataSource.query(
    'SELECT user_id AS "userId", counter::int AS counter FROM device_keys WHERE app_id = $1',
    [appId],
  );
}

async function registeredPhone(): Promise<Phone> {
  const phone = world.phone(await world.deviceApp('app_install'));
  expect((await phone.register()).status).toBe(200);
  return phone;
}

/** Status of a call to the provider with a gateway token. */
async function callStatus(instance: Instance, appId: string, token: string): Promise<number> {
  const response = await fetch(`${instance.baseUrl}/v1/apps/${appId}/proxy/${slug}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'x-app-version': '1', 'content-type': 'application/json' },
    body: '{"model":"gpt-4.1","messages":[]}',
  });
  await response.arrayBuffer();
  return response.status;
}

/** The token is refused here now, and on the other instance as soon as it is notified. */
async function isRefusedEverywhere(appId: string, token: string, status: number): Promise<void> {
  expect(await callStatus(world, appId, token)).toBe(status);
  await eventually(async () => (await callStatus(other, appId, token)) === status, { withinMs: TOLD_WITHIN_MS });
}

describeWithRedis('single use, on two instances at once', () => {
  it('one challenge, 20 assertions signed over it → exactly one token', async () => {
    const phone = await registeredPhone();
    const challenge = await phone.challenge();
    const proofs = await Promise.all(numbers(AT_ONCE).map(() => phone.proof({ challenge })));
    expect(outcomes(await postAll(phone, 'token', proofs))).toEqual({ ok: 1, attest_failed: AT_ONCE - 1 });
    const events = await storedEvents(phone.appId, 'token_exchange', AT_ONCE);
    expect(events.filter(({ outcome }) => outcome === 'ok')).toHaveLength(1);
  });

  it('one assertion, replayed 20 times → exactly one token', async () => {
    const phone = await registeredPhone();
    const proof = await phone.proof();
    const answers = await postAll(
      phone,
      'token',
      numbers(AT_ONCE).map(() => proof),
    );
    expect(outcomes(answers)).toEqual({ ok: 1, attest_failed: AT_ONCE - 1 });
  });

  it('one counter, signed over 20 challenges → exactly one token; every challenge is used up', async () => {
    const phone = await registeredPhone();
    const proofs = await Promise.all(numbers(AT_ONCE).map(() => phone.proof({ changes: { counter: 7 } })));
    expect(outcomes(await postAll(phone, 'token', proofs))).toEqual({ ok: 1, attest_failed: AT_ONCE - 1 });
    const reasons = (await storedEvents(phone.appId, 'token_exchange', AT_ONCE)).map(({ reason }) => reason);
    expect(new Set(reasons)).toEqual(new Set([null, 'counter_not_greater']));
    const left = await world.dataSource.query('SELECT 1 FROM auth_challenges WHERE app_id = $1', [phone.appId]);
    expect(left).toEqual([]);
  });

  it('20 increasing counters over 20 challenges → the counter ends at the highest accepted one, never lower', async () => {
    const phone = await registeredPhone();
    const proofs = await Promise.all(numbers(AT_ONCE).map((n) => phone.proof({ changes: { counter: n + 1 } })));
    const answers = await postAll(phone, 'token', proofs);
    const { ok = 0, attest_failed = 0, ...others } = outcomes(answers);
    expect([ok >= 1, ok + attest_failed, others]).toEqual([true, AT_ONCE, {}]);
    const [key] = await storedKeys(phone.appId);
    const highest = answers.findLastIndex(({ status }) => status === 200) + 1;
    expect(key?.counter).toBe(highest);
    const again = await phone.exchange({ changes: { counter: highest } });
    expect(again.body.error.code).toBe('attest_failed');
  });

  it('one challenge, 20 registrations of one key → exactly one', async () => {
    const phone = world.phone(await world.deviceApp('app_install'));
    const challenge = await phone.challenge();
    const bodies = await Promise.all(numbers(AT_ONCE).map(() => phone.registration({ challenge })));
    expect(outcomes(await postAll(phone, 'register', bodies))).toEqual({ ok: 1, attest_failed: AT_ONCE - 1 });
  });
});

describeWithRedis('keys, registered on two instances at once', () => {
  it('20 registrations of one key → all accepted, one row, and it signs in', async () => {
    const phone = world.phone(await world.deviceApp('app_install'));
    const bodies = await Promise.all(numbers(AT_ONCE).map(() => phone.registration()));
    expect(outcomes(await postAll(phone, 'register', bodies))).toEqual({ ok: AT_ONCE });
    expect(await storedKeys(phone.appId)).toEqual([{ userId: phone.keyId, counter: 0 }]);
    expect((await phone.exchange()).status).toBe(200);
  });

  it('25 keys of one user → all accepted, 20 remain', async () => {
    const app = await world.deviceApp('issuer');
    const issuerToken = await world.issuer.token({ sub: 'ada' });
    const phones = numbers(MAX_KEYS + 5).map(() => world.phone(app));
    const bodies = await Promise.all(phones.map((phone) => phone.registration({ issuerToken })));
    const answers = await Promise.all(
      phones.map((phone, index) => phone.postTo(instanceOf(index), 'register', bodies[index])),
    );
    expect(outcomes(answers)).toEqual({ ok: MAX_KEYS + 5 });
    expect(await storedKeys(app.id)).toEqual(numbers(MAX_KEYS).map(() => ({ userId: 'ada', counter: 0 })));
    const signedIn = await Promise.all(phones.map((phone) => phone.exchange({ issuerToken })));
    expect(outcomes(signedIn)).toEqual({ ok: MAX_KEYS, attest_failed: 5 });
  });

  it('one key, registered by 10 users → belongs to the last one, without a server error', async () => {
    const app = await world.deviceApp('issuer');
    const phone = world.phone(app);
    const tokens = await Promise.all(numbers(10).map((n) => world.issuer.token({ sub: `user-${n}` })));
    const bodies = await Promise.all(tokens.map((issuerToken) => phone.registration({ issuerToken })));
    expect(outcomes(await postAll(phone, 'register', bodies))).toEqual({ ok: 10 });
    const [key, ...more] = await storedKeys(app.id);
    expect([more, key?.userId]).toEqual([[], expect.stringMatching(/^user-\d$/)]);
  });
});

describeWithRedis('blocked while exchanges run', () => {
  const block = (appId: string, userId: string) =>
    world.api.post(`/v1/admin/apps/${appId}/users/${encodeURIComponent(userId)}/block`);

  it(`devices, ${ROUNDS} rounds → no exchange that starts after the answer succeeds; earlier tokens are refused`, async () => {
    const app = await world.deviceApp('issuer');
    for (const round of numbers(ROUNDS)) {
      const user = `user-${round}`;
      const issuerToken = await world.issuer.token({ sub: user });
      const phones = [world.phone(app), world.phone(app)];
      for (const phone of phones) expect((await phone.register({ issuerToken })).status).toBe(200);
      const proofs = () => Promise.all(phones.map((phone) => phone.proof({ issuerToken })));
      const [before, after] = [await proofs(), await proofs()];
      const exchange = (bodies: readonly object[]) =>
        Promise.all(phones.map((phone, index) => phone.postTo(instanceOf(index), 'token', bodies[index])));
      const racing = exchange(before);
      await sleep(round % 10);
      expect((await block(app.id, user)).status).toBe(200);
      expect(outcomes(await exchange(after))).toEqual({ auth_required: 2 });
      for (const { body, status } of await racing) {
        if (status === 200) await isRefusedEverywhere(app.id, body.access_token, 403);
        else expect(body.error.code).toBe('auth_required');
      }
    }
  }, 120_000);

  it.each(['register', 'token'])('%s that is under way when the block commits → refused', async (route) => {
    const phone = await registeredPhone();
    const body = route === 'token' ? await phone.proof() : await phone.registration();
    const answer = await world.dataSource.transaction(async (tx) => {
      await tx.query('SELECT 1 FROM device_keys WHERE app_id = $1 FOR UPDATE', [phone.appId]);
      await tx.query("UPDATE app_users SET status = 'blocked' WHERE app_id = $1", [phone.appId]);
      const underWay = phone.post(route, body);
      await untilStatementWaits(world.dataSource);
      return { underWay };
    });
    expect(outcomes([await answer.underWay])).toEqual({ auth_required: 1 });
  });

  it('registrations → no registration that starts after the answer succeeds, and no key is stored', async () => {
    const app = await world.deviceApp('issuer');
    const issuerToken = await world.issuer.token({ sub: 'ada' });
    const first = world.phone(app);
    await first.register({ issuerToken });
    const phones = numbers(10).map(() => world.phone(app));
    const bodies = await Promise.all(phones.map((phone) => phone.registration({ issuerToken })));
    const send = (index: number) => phones[index]?.postTo(instanceOf(index), 'register', bodies[index]);
    const racing = Promise.all(numbers(5).map(send));
    await block(app.id, 'ada');
    const keys = (await storedKeys(app.id)).length;
    const late = await Promise.all([5, 6, 7, 8, 9].map(send));
    await racing;
    expect(outcomes(late.filter((answer) => answer !== undefined))).toEqual({ auth_required: 5 });
    expect(await storedKeys(app.id)).toHaveLength(keys);
  });
});

describeWithRedis('claims that arrive, on two instances at once', () => {
  it('10 refusals for a missing claim, then 10 successes → exactly one event carries the delay', async () => {
    const app = await world.backendApp({ required_claims: [{ path: 'plan', equals: 'pro' }] });
    const exchange = async (claims: object) => {
      const body = { api_key: app.key, issuer_token: await world.issuer.token({ sub: 'ada', ...claims }) };
      return Promise.all(
        numbers(10).map((index) => instanceOf(index).as(undefined).post(`/v1/apps/${app.id}/auth/token`, body)),
      );
    };
    expect(outcomes(await exchange({}))).toEqual({ issuer_claims_missing: 10 });
    // The smallest delay that can be distinguished from none; a longer pause changes nothing.
    await sleep(50);
    expect(outcomes(await exchange({ plan: 'pro' }))).toEqual({ ok: 10 });
    const delays = (await storedEvents(app.id, 'token_exchange', 20)).flatMap(({ delay }) => delay ?? []);
    expect([delays.length, Number(delays[0]) >= 50]).toEqual([1, true]);
  });
});

describeWithRedis('API key revoked while exchanges run', () => {
  it('10 rounds → no exchange that starts after the answer succeeds; earlier tokens are refused', async () => {
    for (const round of numbers(10)) {
      const app = await world.backendApp();
      const [key] = (await world.api.get(`/v1/admin/apps/${app.id}/keys`)).body.keys;
      const body = { api_key: app.key, issuer_token: await world.issuer.token() };
      const exchange = (index: number) => instanceOf(index).as(undefined).post(`/v1/apps/${app.id}/auth/token`, body);
      const racing = Promise.all(numbers(4).map(exchange));
      await sleep(round);
      expect((await world.api.post(`/v1/admin/apps/${app.id}/keys/${key.id}/revoke`)).status).toBe(200);
      expect(outcomes(await Promise.all(numbers(2).map(exchange)))).toEqual({ auth_required: 2 });
      for (const { body: answer, status } of await racing) {
        if (status === 200) await isRefusedEverywhere(app.id, answer.access_token, 401);
        else expect(answer.error.code).toBe('auth_required');
      }
    }
  }, 60_000);
});
