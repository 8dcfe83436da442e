import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AppleSignals, withSignals } from '../../../support/client-auth/devices/device.js';
import { BUNDLE_ID, type Phone, TEAM_ID } from '../../../support/client-auth/devices/phone.js';
import { AuthTrail } from '../../../support/client-auth/exchange/auth-trail.js';
import { changeApp, type MobileWorld, startMobileWorld } from '../../../support/client-auth/exchange/mobile-world.js';

const APPLE = { team_id: TEAM_ID, bundle_id: BUNDLE_ID };
const STORE: AppleSignals = { category: 4, version: '2.10' };
const ACCESS = '1.2.840.113635.100.8.6';
/** The leaf certificate of a Mac in full security. */
const FULL_SECURITY = Buffer.from(
  'MEAMAjExMDowCQwCb2uhAwEB/zAJDAJvYaEDAQH/MAsMBG9kZWyhAwEB/zAVDARvc2duoAYMBHJzZWMwBaYDAgEB',
  'base64',
);
let world: MobileWorld;

beforeAll(async () => {
  world = await startMobileWorld();
});

afterAll(() => world.stop());

type Members = Readonly<Record<string, unknown>>;

const proving = (rules: Members) => ({
  type: 'device_proofs',
  end_user: { source: 'app_install' },
  proofs: { app_attest: { ...APPLE, ...rules } },
});

async function appOf(rules: Members = {}) {
  const app = await world.app({ authentication: proving(rules) });
  return { app, phone: world.phone(app), trail: new AuthTrail(world, app.id) };
}

const register = (phone: Phone, signals: AppleSignals, isAnnounced = true) =>
  phone.register({ changes: { authenticatorData: withSignals(signals, isAnnounced) } });
const exchange = (phone: Phone, signals: AppleSignals, isAnnounced = true) =>
  phone.exchange({ changes: { authenticatorData: withSignals(signals, isAnnounced) } });

const octets = (content: Buffer) => Buffer.concat([Buffer.of(0x04, content.length), content]);
const refused = (event: 'register' | 'token_exchange', reason: string, code = 'attest_failed') => ({
  ...{ event, reason, code, status: 403 },
});

describe('signals of iOS and macOS 27', () => {
  it.each([true, false])('with the flag set: %s → facts of the key and of both events', async (isAnnounced) => {
    const { phone, trail } = await appOf();
    expect((await register(phone, STORE, isAnnounced)).status).toBe(200);
    expect((await exchange(phone, { ...STORE, version: '2.11' }, isAnnounced)).status).toBe(200);
    expect((await phone.exchange()).status).toBe(200);
    const facts = { environment: 'production', category: 4, full_security: null };
    expect((await trail.events()).map(({ facts: told }) => told)).toEqual([
      { ...facts, bundle_version: '2.10' },
      { ...facts, bundle_version: '2.11' },
      { ...facts, bundle_version: '2.11' },
    ]);
  });

  it('an unreadable extension map → no signals, and no refusal', async () => {
    const { phone, trail } = await appOf({ allowed_categories: [4], min_bundle_version: '2' });
    const broken = (bytes: Buffer) => Buffer.concat([withSignals(STORE)(bytes), Buffer.of(0xff)]);
    expect((await phone.register({ changes: { authenticatorData: broken } })).status).toBe(200);
    expect((await phone.exchange({ changes: { authenticatorData: broken } })).status).toBe(200);
    const none = { category: null, bundle_version: null };
    expect(await trail.events()).toMatchObject([{ facts: none }, { facts: none }]);
  });

  it.each<[Members, AppleSignals, ReturnType<typeof refused>]>([
    [{ allowed_categories: [4] }, { category: 2 }, refused('register', 'category_not_allowed')],
    [{ min_bundle_version: '2.11' }, STORE, refused('register', 'bundle_version_too_low', 'app_version_too_old')],
    [{ require_signals: true }, { category: 4 }, refused('register', 'signals_missing')],
    [
      { require_signals: true, min_bundle_version: '1' },
      { category: 4, version: 'beta' },
      refused('register', 'bundle_version_unreadable'),
    ],
  ])(
    'policy %j, a device that signs %j → refused at registration, nothing is stored',
    async (rules, signals, refusal) => {
      const { app, phone, trail } = await appOf(rules);
      const answer = await register(phone, signals);
      await trail.isRefused(answer, refusal);
      expect((await world.api.get(`/v1/admin/apps/${app.id}/users`)).body.users).toEqual([]);
    },
  );

  it.each<[Members, AppleSignals, ReturnType<typeof refused>]>([
    [{ allowed_categories: [4] }, { category: 2 }, refused('token_exchange', 'category_not_allowed')],
    [
      { min_bundle_version: '2.10' },
      { version: '2.9' },
      refused('token_exchange', 'bundle_version_too_low', 'app_version_too_old'),
    ],
  ])(
    'policy %j, an assertion that signs %j → refused at the exchange, and its challenge is used up',
    async (rules, signals, refusal) => {
      const { phone, trail } = await appOf(rules);
      await register(phone, STORE);
      await trail.skip();
      const challenge = await phone.challenge();
      const answer = await phone.exchange({ challenge, changes: { authenticatorData: withSignals(signals) } });
      await trail.isRefused(answer, refusal);
      await trail.isRefused(await phone.exchange({ challenge }), refused('token_exchange', 'challenge_not_in_force'));
      expect((await exchange(phone, STORE)).status).toBe(200);
    },
  );

  it('rules that are set later → registered keys are judged by their stored signals; older keys have none', async () => {
    const { app, phone, trail } = await appOf();
    await register(phone, { category: 2, version: '2.10' });
    const plain = world.phone(app);
    await plain.register();
    await world.dataSource.query('UPDATE device_keys SET facts = NULL WHERE key_id = $1', [plain.keyId]);
    await changeApp(world, app, { config: { authentication: proving({ allowed_categories: [4] }) } });
    await trail.skip();
    await trail.isRefused(await phone.exchange(), refused('token_exchange', 'category_not_allowed'));
    expect((await plain.exchange()).status).toBe(200);
    await changeApp(world, app, { config: { authentication: proving({ require_signals: true }) } });
    await trail.skip();
    await trail.isRefused(await plain.exchange(), refused('token_exchange', 'signals_missing'));
    expect((await exchange(plain, STORE)).status).toBe(200);
  });

  it.each([
    ['as it is', octets(FULL_SECURITY), true],
    ['under a tag', Buffer.concat([Buffer.of(0xa3, FULL_SECURITY.length + 2), octets(FULL_SECURITY)]), true],
    ['another one', octets(Buffer.from(FULL_SECURITY).fill(0, 0, 1)), false],
  ])('the leaf of a Mac, %s → full_security %j', async (_, value, full_security) => {
    const { phone, trail } = await appOf();
    const leaf = { extensions: [{ oid: ACCESS, value }] };
    expect((await phone.register({ changes: { leaf } })).status).toBe(200);
    expect(await trail.events()).toMatchObject([{ facts: { full_security: full_security } }]);
  });

  it('the receipt → stored as it was sent', async () => {
    const { phone } = await appOf();
    const receipt = Buffer.from('a receipt');
    const statement = (members: Map<unknown, unknown>) => members.set('receipt', receipt);
    await phone.register({ changes: { statement } });
    const [row] = await world.dataSource.query('SELECT receipt FROM device_keys WHERE key_id = $1', [phone.keyId]);
    expect(row.receipt).toEqual(receipt);
  });

  it('an application of App Attest alone → accepts whatever a device signs, and its events are unchanged', async () => {
    const app = await world.deviceApp('app_install');
    const [phone, trail] = [world.phone(app), new AuthTrail(world, app.id)];
    await register(phone, { category: 1, version: 'x' });
    expect((await exchange(phone, { category: 2 })).status).toBe(200);
    for (const event of await trail.events()) expect(Object.keys(event)).not.toContain('facts');
  });
});

describe('configurations that are refused', () => {
  it.each<[Members, string]>([
    [{ allowed_categories: [] }, 'allowed_categories'],
    [{ allowed_categories: [4, 4] }, 'allowed_categories'],
    [{ allowed_categories: [-1] }, 'allowed_categories.0'],
    [{ allowed_categories: ['store'] }, 'allowed_categories.0'],
    [{ allowed_categories: [4_294_967_296] }, 'allowed_categories.0'],
    [{ min_bundle_version: '2.x' }, 'min_bundle_version'],
    [{ min_bundle_version: 2 }, 'min_bundle_version'],
    [{ require_signals: 'yes' }, 'require_signals'],
  ])('%j → 400 that names it', async (rules, named) => {
    await expect(world.app({ authentication: proving(rules) })).rejects.toThrow(named);
  });

  it('of App Attest alone → 400', async () => {
    const app_attest = { ...APPLE, require_signals: true };
    const authentication = { type: 'device_app_attest', end_user: { source: 'app_install' }, app_attest };
    await expect(world.app({ authentication })).rejects.toThrow('require_signals');
  });
});
