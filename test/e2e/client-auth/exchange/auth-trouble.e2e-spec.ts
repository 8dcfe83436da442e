import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { hashAppKey } from '../../../../src/app-keys/app-key.rules.js';
import type { ApiAnswer } from '../../../support/api-client.js';
import { type MobileWorld, startMobileWorld } from '../../../support/client-auth/exchange/mobile-world.js';
import { type IssuerSimulator, startIssuer } from '../../../support/client-auth/issuers/issuer.js';
import { eventually } from '../../../support/eventually.js';
import { type FurtherInstance, startFurtherInstance } from '../../../support/platform/further-instance.js';
import { listeningInstances } from '../../../support/platform/listening-instances.js';
import { describeWithRedis, reachRedis, type TestRedis } from '../../../support/platform/redis.js';
import { startTcpProxy, type TcpProxy } from '../../../support/platform/tcp-proxy.js';

const KEY_SET_TIMEOUT_MS = 5_000;
const RECOVERY = { withinMs: 20_000 };
const ASKED = { withinMs: 10_000 };
const BETWEEN_TRIES_MS = 100;
/** As many as a pool keeps open: the call of a test finds a free one, whatever else the instance queries meanwhile. */
const OPEN_CONNECTIONS = 4;
/** The statement that reads the key of a device. */
const DEVICE_KEY = '"device"."public_key"';
/** Between two kills of every connection. */
const PAUSES_MS = [15, 15, 15, 60, 15, 250];

let redis: Pick<TestRedis, 'url' | 'stop'>;
let world: MobileWorld;
let proxy: TcpProxy;
/** The instance whose database connection fails. */
let cut: FurtherInstance;

beforeAll(async () => {
  redis = await reachRedis();
  world = await startMobileWorld({ env: { REDIS_URL: redis.url } });
  const url = new URL(world.databaseUrl);
  proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port || 5432) });
  url.host = `127.0.0.1:${proxy.port}`;
  cut = await startFurtherInstance(world, url.href);
});

afterAll(async () => {
  proxy?.thaw();
  await cut?.stop();
  await proxy?.close();
  await world?.stop();
  await redis?.stop();
});

/** A failing test leaves the database reachable for the next one. */
afterEach(() => proxy?.thaw());

/** A call to the instance, ready to be made; each is made once. */
interface PreparedCall {
  readonly appId: string;
  /**
   * A text in the first statement of the call, and in no other: events of earlier calls name the application as well.
   */
  readonly asked: string;
  readonly send: () => Promise<ApiAnswer>;
}

const WAYS = ['challenge', 'register', 'install', 'user', 'backend'] as const;

type Way = (typeof WAYS)[number];

/** Every kind of authentication, prepared while the database is available. */
async function everyProof(): Promise<Record<Way, PreparedCall>> {
  const [install, users, backend] = await Promise.all([
    world.deviceApp('app_install'),
    world.deviceApp('issuer'),
    world.backendApp(),
  ]);
  const issuerToken = await world.issuer.token({ sub: 'ada' });
  const [known, fresh, own] = [world.phone(install), world.phone(install), world.phone(users)];
  await known.register();
  await own.register({ issuerToken });
  const bodies = {
    challenge: {},
    register: await fresh.registration(),
    install: await known.proof(),
    user: await own.proof({ issuerToken }),
    backend: { api_key: backend.key, issuer_token: issuerToken },
  };
  return {
    challenge: {
      appId: install.id,
      asked: 'INTO auth_challenges',
      send: () => known.postTo(cut, 'challenge', bodies.challenge),
    },
    register: {
      appId: install.id,
      asked: 'FROM "app_users" "AppUserEntity"',
      send: () => fresh.postTo(cut, 'register', bodies.register),
    },
    install: { appId: install.id, asked: DEVICE_KEY, send: () => known.postTo(cut, 'token', bodies.install) },
    user: { appId: users.id, asked: DEVICE_KEY, send: () => own.postTo(cut, 'token', bodies.user) },
    backend: {
      appId: backend.id,
      asked: hashAppKey(backend.key),
      send: () => cut.as(undefined).post(`/v1/apps/${backend.id}/auth/token`, bodies.backend),
    },
  };
}

/**
 * Applications and the issuer's keys are in memory, as on any instance that has served before, and connections are
 * open: a call that had to open one would wait for that, and would not send its own statement to the frozen database.
 */
async function warm(proofs: Partial<Record<Way, PreparedCall>>): Promise<void> {
  await eventually(async () => (await listeningInstances(world.dataSource)) === 2, RECOVERY);
  const appIds = [...new Set(Object.values(proofs).map(({ appId }) => appId))];
  const body = { key_id: 'k', assertion: 'a', challenge: 'c', api_key: 'k', issuer_token: 'i' };
  for (const appId of appIds) await cut.as(undefined).post(`/v1/apps/${appId}/auth/token`, body);
  const reads = () => Promise.all(Array.from({ length: OPEN_CONNECTIONS }, () => readApp(appIds[0])));
  await eventually(async () => (await reads()).every((status) => status === 200), RECOVERY);
}

async function readApp(appId: string | undefined): Promise<number> {
  return (await cut.as(world.managementKey).get(`/v1/admin/apps/${appId}`)).status;
}

function isServiceUnavailable({ status, body, headers }: ApiAnswer): void {
  expect([status, body.error?.code]).toEqual([503, 'service_unavailable']);
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
}

let addresses = 0;

/** A call from a separate address, so that no limit applies. */
const fromElsewhere = () => ({ 'x-forwarded-for': `13.0.0.${++addresses % 256}` });

describeWithRedis('trouble with the database is never a failed proof', () => {
  it.each(WAYS)(
    '%s: connection lost during the check → 503 with Retry-After; works again at once afterwards',
    async (way) => {
      const proofs = await everyProof();
      await warm(proofs);
      proxy.freeze();
      const answer = proofs[way].send();
      await eventually(() => proxy.swallowed().includes(proofs[way].asked), ASKED);
      proxy.thaw();
      isServiceUnavailable(await answer);
      await eventually(async () => (await (await everyProof())[way].send()).status === 200, RECOVERY);
    },
  );

  it('the database does not answer at all → 503 in bounded time on every route; back → served', async () => {
    const proofs = await everyProof();
    await warm(proofs);
    proxy.freeze();
    // All of them are answered before the database is back.
    const answers = await Promise.all(Object.values(proofs).map(({ send }) => send()));
    proxy.thaw();
    for (const answer of answers) isServiceUnavailable(answer);
    const served = async () => {
      const again = await Promise.all(Object.values(await everyProof()).map(({ send }) => send()));
      return again.every(({ status }) => status === 200);
    };
    // Nothing can be prepared until it is back.
    await eventually(() => served().catch(() => false), RECOVERY);
  }, 60_000);

  it('these refusals are recorded as events: service_unavailable, with the reason, and the user if known', async () => {
    const { user } = await everyProof();
    await warm({ user });
    proxy.freeze();
    const answer = user.send();
    await eventually(() => proxy.swallowed().includes(user.asked), ASKED);
    proxy.thaw();
    isServiceUnavailable(await answer);
    const read = () =>
      world.dataSource.query(
        "SELECT outcome, reason, user_id FROM auth_events WHERE app_id = $1 AND outcome = 'service_unavailable'",
        [user.appId],
      );
    await eventually(async () => (await read()).length > 0, RECOVERY);
    expect(await read()).toEqual([{ outcome: 'service_unavailable', reason: 'database_unavailable', user_id: 'ada' }]);
  });

  it('connections killed repeatedly during exchanges → a token or 503, nothing else', async () => {
    const phone = world.phone(await world.deviceApp('app_install'));
    await phone.register();
    let killing = true;
    // Pauses of several lengths: on a busy machine no exchange would ever complete between evenly spaced kills.
    const killer = (async () => {
      for (let kill = 0; killing; await sleep(PAUSES_MS[kill++ % PAUSES_MS.length]))
        await world.dataSource.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND application_name = 'gateway' AND pid <> pg_backend_pid()`,
        );
    })();
    const seen = new Set<string>();
    try {
      for (let round = 0; round < 30; round++) {
        const proof = await proofUnderFire();
        const { status, body } = await phone.postTo(cut, 'token', proof);
        seen.add(status === 200 ? 'ok' : body.error.code);
      }
    } finally {
      killing = false;
      await killer;
    }
    expect([...seen].filter((outcome) => outcome !== 'ok' && outcome !== 'service_unavailable')).toEqual([]);
    await eventually(async () => (await phone.postTo(cut, 'token', await proofUnderFire())).status === 200, RECOVERY);

    /** Its challenge may fail too. */
    async function proofUnderFire(): Promise<object> {
      for (;;) {
        const { status, body } = await phone.postTo(cut, 'challenge', {}, fromElsewhere());
        if (status === 200) return phone.proof({ challenge: body.challenge });
        expect(body.error.code).toBe('service_unavailable');
      }
    }
  }, 60_000);
});

describeWithRedis('one issuer in trouble hurts only its application', () => {
  let slow: IssuerSimulator;

  beforeAll(async () => {
    slow = await startIssuer();
  });

  afterAll(() => slow.stop());

  it('an issuer that answers after six seconds → 503 after five; others are served meanwhile', async () => {
    slow.slow(6_000);
    const app = await world.deviceApp('issuer', { issuer: slow.issuerConfig() });
    const others = [world.phone(await world.deviceApp('app_install')), world.phone(await world.deviceApp('issuer'))];
    const issuerToken = await slow.token();
    const startedMs = performance.now();
    let waitedMs = 0;
    const waiting = world
      .phone(app)
      .register({ issuerToken })
      .finally(() => {
        waitedMs = performance.now() - startedMs;
      });
    await others[0]?.signIn();
    await others[1]?.signIn(await world.issuer.token());
    expect(waitedMs).toBe(0);
    const { status, body, headers } = await waiting;
    expect([status, body.error.code, headers.get('retry-after')]).toEqual([
      503,
      'issuer_verification_unavailable',
      null,
    ]);
    expect(waitedMs).toBeGreaterThan(KEY_SET_TIMEOUT_MS - 100);
    slow.heal();
    const phone = world.phone(app);
    // An issuer whose key set failed is not called for two seconds; an address gets no more than 60 challenges
    // meanwhile.
    await eventually(async () => {
      await sleep(BETWEEN_TRIES_MS);
      return (await phone.register({ issuerToken })).status === 200;
    }, RECOVERY);
  });
});
