import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newOrganization, type Person } from '../../support/accounts/people.js';
import { ApprovalBrowser } from '../../support/cli/terminal.js';
import { Gw, type GwRun } from '../../support/gw/gw.js';
import { startWorld, type World } from '../../support/world.js';

let world: World;
let gw: Gw;
let owner: Person;
let organizationId: string;

beforeAll(async () => {
  world = await startWorld();
});
beforeEach(async () => {
  gw = new Gw({ GW_URL: world.baseUrl });
  ({ organizationId, owner } = await newOrganization(world));
});
afterEach(() => gw.remove());
afterAll(() => world.stop());

const browser = () => new ApprovalBrowser(world, owner.cookie);

/** Begins a login without waiting for it. */
async function begun(): Promise<{ id: string; proof: string; link: string }> {
  const { exitCode, json } = await gw.run('account login --no-input --json');
  expect([exitCode, json.result.state]).toEqual([0, 'pending']);
  const link = json.result.url;
  const { pathname, hash } = new URL(link);
  return { id: decodeURIComponent(pathname.split('/').at(-1) ?? ''), proof: hash.slice(1), link };
}

describe('gw account login', () => {
  it('started, approved in a browser, run again → the key is saved, and this terminal is in the account', async () => {
    const { id, proof } = await begun();
    expect((await browser().approve(id, proof, { organizationId })).status).toBe(200);
    const { exitCode, json, stdout } = await gw.run('account login --no-input --json');
    expect([exitCode, json.result.state, json.result.accountId]).toEqual([0, 'completed', organizationId]);
    expect(stdout).not.toContain('gw_mgmt_');
    expect((await gw.run('account status --json')).json.context.accountId).toBe(organizationId);
  });

  it('run again before the approval → the same link', async () => {
    expect((await begun()).link).toBe((await begun()).link);
  });

  it('waits for the approval, and shows the link and the code meanwhile', async () => {
    const { id, proof } = await begun();
    let waiting = Promise.resolve<GwRun | undefined>(undefined);
    const told = await new Promise<string>((resolve) => {
      waiting = gw.runAsProcess('account login', '', {}, resolve);
    });
    expect(told).toMatch(/^Open http.+\nor type [A-Z2-9]{4}-[A-Z2-9]{4} at /);
    await browser().approve(id, proof, { organizationId });
    const ended = await waiting;
    expect([ended?.exitCode, ended?.stdout]).toEqual([0, `Logged in to ${world.baseUrl} as profile "default".\n`]);
  });

  it('declined → exit 4, and the next login starts again', async () => {
    const { id, proof, link } = await begun();
    await browser().deny(id, proof);
    const { exitCode, json } = await gw.run('account login --no-input --json');
    expect([exitCode, json.error.code]).toEqual([4, 'login_denied']);
    expect((await begun()).link).not.toBe(link);
  });

  it('a key on standard input → saved without a browser', async () => {
    const { body } = await owner.client.post('/v1/admin/keys', { name: 'Pipeline' });
    const { exitCode, json } = await gw.run('account login --key-stdin --json', body.key.plaintext);
    expect([exitCode, json.result.accountId]).toEqual([0, organizationId]);
    expect((await gw.run('account status --json', '', { GW_URL: '' })).json.context.accountId).toBe(organizationId);
  });
});
