import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { RevocationListRepository } from '../../../../src/client-auth/devices/android/revocation-list.repository.js';
import { RevocationListReader } from '../../../../src/client-auth/devices/android/revocation-list-reader.service.js';
import { Clock } from '../../../../src/common/clock.js';
import { Log } from '../../../../src/common/log/log.js';
import { Environment } from '../../../../src/platform/config/environment.js';
import { GuardedRequest } from '../../../../src/platform/outbound/guarded-request.js';
import { keyAttestation } from '../../../support/client-auth/devices/android.js';
import {
  type RevocationListServer,
  startRevocationList,
} from '../../../support/client-auth/devices/revocation-list-server.js';
import { AuthTrail } from '../../../support/client-auth/exchange/auth-trail.js';
import { type MobileWorld, startMobileWorld } from '../../../support/client-auth/exchange/mobile-world.js';
import { FakeClock } from '../../../support/clock.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Of the simulated vendor's attesting certificate. */
const ATTESTING = 'ab1';
const INTERMEDIATE = 'cd2';
const OK = { status: 200 };
const REVOKED = { event: 'token_exchange', reason: 'certificate_revoked', code: 'attest_failed' } as const;
const OF_PHONE = { status: 403, method: 'key_attestation' } as const;

let clock: FakeClock;
let list: RevocationListServer;
let world: MobileWorld;

async function open(mode: string) {
  clock = new FakeClock();
  list = await startRevocationList();
  const env = { ANDROID_REVOCATION_URL: list.url, ANDROID_REVOCATION_LIST: mode };
  world = await startMobileWorld({ clock, env });
}

async function close() {
  await world.stop();
  await list.stop();
}

const look = () => world.gateway.app.get(RevocationListReader).look();

/** Makes the next read due, and reads. */
async function readAgain() {
  clock.advance(20 * MINUTE);
  await look();
}

async function install() {
  const app = await world.proofsApp('app_install', { key_attestation: keyAttestation() });
  return { app, phone: world.androidPhone(app), trail: new AuthTrail(world, app.id) };
}

const statusAndCode = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [
  status,
  body.error?.code,
];

describe('ANDROID_REVOCATION_LIST=stale_24h', () => {
  beforeAll(() => open('stale_24h'));
  afterAll(close);

  it('no application accepts such keys → the list is not fetched; the first one does → it is fetched, and phones do not wait for it', async () => {
    await world.deviceApp('app_install');
    await readAgain();
    expect(list.asked).toEqual([]);
    const { phone } = await install();
    expect((await phone.register()).status).toBe(200);
    await look();
    expect(list.asked).toHaveLength(1);
  });

  describe('with an application that accepts such keys', () => {
    beforeEach(async () => {
      await install();
      list.list({});
      await readAgain();
    });

    it.each(['REVOKED', 'SUSPENDED'])(
      '%s → registration and exchange are refused; lifted → the key works again',
      async (status) => {
        const { phone, trail } = await install();
        await phone.register();
        await trail.skip();
        list.list({ '00AB1': status });
        await readAgain();
        await trail.isRefused(await phone.exchange(), { ...REVOKED, ...OF_PHONE });
        await trail.isRefused(await phone.register(), { ...REVOKED, ...OF_PHONE, event: 'register' });
        list.list({ cd: 'REVOKED' });
        await readAgain();
        expect((await phone.exchange()).status).toBe(200);
      },
    );

    it('listed → device.revoked of each key that this ends, again after it was lifted; not of one that had ended', async () => {
      const { app, phone } = await install();
      expect([await phone.register(), await world.androidPhone(app).register()]).toMatchObject([OK, OK]);
      const query = (sql: string): Promise<Record<string, string>[]> => world.dataSource.query(sql, [app.id]);
      await query(`
        INSERT INTO webhooks (id, organization_id, name, url, events, app_ids, enabled, secret_blob, created_by,
          created_at, updated_at, leased_until)
        SELECT 'wh_devices', organization_id, 'Devices', 'https://events.example.com', '{device.*}', ARRAY[id], true, '',
          'test', now(), now(), 'infinity' FROM apps WHERE id = $1`);
      const keys = await query('SELECT user_id, key_id FROM device_keys WHERE app_id = $1');
      const told = () => query("SELECT body FROM webhook_events WHERE body::json #>> '{data,app}' = $1");
      const listing = async (...serials: string[]) => {
        list.list(Object.fromEntries(serials.map((serial) => [serial, 'SUSPENDED'])));
        await readAgain();
        return (await told()).length;
      };
      expect(await listing(ATTESTING)).toBe(2);
      const data = (await told()).map(({ body = '' }) => JSON.parse(body).data);
      const account = expect.any(String);
      expect(data).toEqual(
        expect.arrayContaining(
          keys.map(({ user_id: user, key_id: device }) => ({
            ...{ account, app: app.id, user, device, reason: 'certificate_revoked' },
          })),
        ),
      );
      expect(await listing(ATTESTING, INTERMEDIATE)).toBe(2);
      expect(await listing(INTERMEDIATE)).toBe(2);
      expect(await listing()).toBe(2);
      expect(await listing(ATTESTING)).toBe(4);
    });

    it('a token of a listed key → invalid within an hour of the listing', async () => {
      const { app, phone } = await install();
      await phone.register();
      list.list({ [ATTESTING]: 'REVOKED' });
      // The last moment before the listing is known.
      clock.advance(20 * MINUTE);
      const { access_token: token, expires_in } = (await phone.exchange()).body;
      expect(expires_in).toBe(1_800);
      await look();
      expect((await phone.exchange()).status).toBe(403);
      expect((await world.as(token).get(`/v1/apps/${app.id}/me`)).status).toBe(200);
      clock.advance(30 * MINUTE);
      expect((await world.as(token).get(`/v1/apps/${app.id}/me`)).status).toBe(401);
    });

    it('every 20 minutes whatever max-age says; an unchanged list is not transferred again, and stays in force', async () => {
      const { phone } = await install();
      list.list({ [ATTESTING]: 'REVOKED' }, '"one"');
      await readAgain();
      const before = list.asked.length;
      clock.advance(20 * MINUTE - 1);
      await look();
      expect(list.asked).toHaveLength(before);
      clock.advance(1);
      await look();
      expect(list.asked.slice(before).map((headers) => headers['if-none-match'])).toEqual(['"one"']);
      expect(statusAndCode(await phone.register())).toEqual([403, 'attest_failed']);
    });

    it.each([
      ['broken JSON', { body: '{"entries":{' }, 'malformed'],
      ['JSON of another kind', { body: '{"entries":{"ab":"REVOKED"}}' }, 'malformed'],
      ['8 MiB and a byte', { body: ' '.repeat(8 * 1024 * 1024 + 1) }, 'outbound request failed: too_large'],
      ['a failure', { status: 500, body: '{"entries":{}}' }, 'status 500'],
      ['304 without a tag', { status: 304, body: '' }, 'status 304'],
      ['no answer', undefined, 'outbound request failed: unreachable'],
    ])('%s → the previous list stays, a log line, another attempt in a minute', async (_, answer, error) => {
      const { phone } = await install();
      list.list({ [ATTESTING]: 'REVOKED' });
      await readAgain();
      list.answer = answer;
      await readAgain();
      expect(world.logs).toContainEqual(
        expect.objectContaining({ message: 'android_revocation_list_failed', level: 'warn', error }),
      );
      expect(statusAndCode(await phone.register())).toEqual([403, 'attest_failed']);
      list.list({});
      clock.advance(MINUTE);
      await look();
      expect((await phone.register()).status).toBe(200);
    });

    it('unreachable for more than 24 hours → valid chains 503, invalid ones 403, exchanges continue; reachable again → served', async () => {
      const { phone, trail } = await install();
      await phone.register();
      list.answer = undefined;
      clock.advance(24 * HOUR);
      await look();
      expect((await phone.register()).status).toBe(200);
      clock.advance(MINUTE);
      await look();
      await trail.skip();
      expect(statusAndCode(await phone.register())).toEqual([503, 'service_unavailable']);
      expect(world.logs).toContainEqual(expect.objectContaining({ reason: 'revocation_list_stale' }));
      const unlisted = await phone.register({ changes: { chain: (chain) => chain.slice(0, -1) } });
      expect(statusAndCode(unlisted)).toEqual([403, 'attest_failed']);
      expect((await phone.exchange()).status).toBe(200);
      list.list({});
      clock.advance(MINUTE);
      await look();
      expect((await phone.register()).status).toBe(200);
    });

    it('two instances → one fetches for both', async () => {
      const { app } = world.gateway;
      const other = new RevocationListReader(
        app.get(RevocationListRepository),
        app.get(GuardedRequest),
        app.get(Environment),
        app.get(Clock),
        app.get(Log),
      );
      const before = list.asked.length;
      clock.advance(20 * MINUTE);
      await Promise.all([look(), other.look()]);
      expect(list.asked).toHaveLength(before + 1);
    });
  });
});

describe('ANDROID_REVOCATION_LIST=closed', () => {
  beforeAll(() => open('closed'));
  afterAll(close);
  afterEach(() => list.list({}));

  it('no list yet, or one older than an hour → valid chains 503, invalid ones 403; with a list → served', async () => {
    const { phone } = await install();
    const isClosed = async () => {
      expect(statusAndCode(await phone.register())).toEqual([503, 'service_unavailable']);
      const foreign = await phone.register({ changes: { chain: (chain) => chain.slice(0, -1) } });
      expect(statusAndCode(foreign)).toEqual([403, 'attest_failed']);
    };
    await isClosed();
    await look();
    expect((await phone.register()).status).toBe(200);
    list.answer = undefined;
    clock.advance(HOUR + 1);
    await look();
    await isClosed();
    expect((await phone.exchange()).status).toBe(200);
  });
});

describe('ANDROID_REVOCATION_LIST=off', () => {
  beforeAll(() => open('off'));
  afterAll(close);

  it('→ the list is not fetched, and one that was read before does not count', async () => {
    const { phone } = await install();
    await readAgain();
    expect(list.asked).toEqual([]);
    await world.dataSource.query(`INSERT INTO android_revoked_serials VALUES ('${ATTESTING}', 'REVOKED')`);
    expect([(await phone.register()).status, (await phone.exchange()).status]).toEqual([200, 200]);
  });
});
