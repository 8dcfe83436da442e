import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newAccount } from '../../support/accounts/accounts.js';
import { Gw, type GwRun } from '../../support/gw/gw.js';
import { startWorld, type World } from '../../support/world.js';

const STAYS_VALID = 'stays valid until it is revoked';
let world: World;
let gw: Gw;
let key: string;

beforeAll(async () => {
  world = await startWorld();
});
beforeEach(async () => {
  gw = new Gw();
  ({ key } = await newAccount(world.dataSource));
});
afterEach(() => gw.remove());
afterAll(() => world.stop());

const errorOf = ({ exitCode, json }: GwRun) => [exitCode, json?.error?.code];
const connect = (flags = '', secret = key) =>
  gw.run(`deployment connect --url ${world.baseUrl} --key-stdin ${flags}`, secret);
const names = async () => {
  const { json } = await gw.run('profile list --json');
  return json.result.profiles.map(({ name, current }: { name: string; current: boolean }) => [name, current]);
};
const files = () => readdirSync(join(gw.stateFolder, 'profiles')).sort();

describe('gw profile', () => {
  it('list, use → the current one is marked and used by every command', async () => {
    expect((await gw.run('profile list')).stdout).toContain('gw deployment connect');
    await connect('--profile one');
    const second = await connect('--profile two');
    expect(second.stdout).toContain('gw profile use one');
    expect(await names()).toEqual([
      ['one', false],
      ['two', true],
    ]);
    expect((await gw.run('profile use one')).stdout).toBe(`Using "one" (${world.baseUrl}).\n`);
    expect(await names()).toEqual([
      ['one', true],
      ['two', false],
    ]);
    expect((await gw.run('profile use two', '', { GW_PROFILE: 'one' })).stdout).toContain('GW_PROFILE is set');
    expect((await gw.run('profile list')).stdout).toMatch(/^\* +two +http/m);
  });

  it('rename → the key moves with it, and nothing remains under the old name', async () => {
    await connect();
    expect((await gw.run('profile rename default main --json')).json.result).toEqual({
      profile: 'main',
      before: 'default',
    });
    expect(files()).toEqual(['main.json', 'main.key']);
    expect((await gw.run('account status --json')).exitCode).toBe(0);
    await connect('--profile other');
    expect(errorOf(await gw.run('profile rename main other --json'))).toEqual([2, 'profile_exists']);
    expect(errorOf(await gw.run('profile rename main ../x --json'))).toEqual([2, 'invalid_profile']);
  });

  it('remove → asks, deletes it, and says that the key stays valid and how to revoke it', async () => {
    await connect();
    const asked = await gw.run('profile remove default --json');
    expect(errorOf(asked)).toEqual([2, 'confirmation_required']);
    expect(asked.json.error.message).toContain('gw account logout --profile default');
    const { stdout } = await gw.run('profile remove default --yes');
    expect(stdout).toContain(STAYS_VALID);
    expect([files(), existsSync(join(gw.stateFolder, 'current'))]).toEqual([[], false]);
    expect((await world.as(key).get('/v1/cli/account')).status).toBe(200);
    expect(errorOf(await gw.run('account status --json'))).toEqual([4, 'not_connected']);
  });

  it('a missing profile → exit 2 that says how to find them', async () => {
    for (const line of ['use x', 'rename x y', 'remove x --yes']) {
      const run = await gw.run(`profile ${line} --json`);
      expect([errorOf(run), run.json.error.nextAction]).toEqual([
        [2, 'profile_not_found'],
        'See them: gw profile list',
      ]);
    }
  });

  it('a damaged one → listed as such, and the suggested fixes work', async () => {
    await connect();
    const damage = () => writeFileSync(join(gw.stateFolder, 'profiles/default.json'), '{');
    damage();
    expect((await gw.run('profile list --json')).json.result.profiles).toMatchObject([
      { name: 'default', damaged: true },
    ]);
    expect((await connect()).exitCode).toBe(0);
    expect((await gw.run('account status --json')).exitCode).toBe(0);
    damage();
    expect((await gw.run('profile remove default --yes --json')).json.result.forgotValidKey).toBe(true);
    expect(files()).toEqual([]);
  });
});

describe('a saved key', () => {
  it('connect again without a key → kept', async () => {
    await connect();
    const again = await gw.run(`deployment connect --url ${world.baseUrl} --json`);
    expect(again.json.result).toMatchObject({ accountId: expect.any(String), forgotValidKey: false });
    expect((await gw.run('account status --json')).exitCode).toBe(0);
  });

  it('replaced by another key → says that the old one stays valid', async () => {
    expect((await connect()).stdout).not.toContain(STAYS_VALID);
    expect((await connect()).stdout).not.toContain(STAYS_VALID);
    const other = await newAccount(world.dataSource);
    expect((await connect('', other.key)).stdout).toContain(STAYS_VALID);
    const login = await gw.run('account login --key-stdin', key);
    expect(login.stdout).toContain(STAYS_VALID);
  });

  it('another gateway under its name → refused before any question, and the key stays', async () => {
    await connect();
    const other = await startWorld();
    for (const line of [
      `deployment connect --url ${other.baseUrl}`,
      `account login --url ${other.baseUrl} --no-input`,
    ]) {
      expect(errorOf(await gw.run(`${line} --json`))).toEqual([2, 'profile_exists']);
    }
    expect((await gw.run('account status --json')).exitCode).toBe(0);
    await other.stop();
  });
});
