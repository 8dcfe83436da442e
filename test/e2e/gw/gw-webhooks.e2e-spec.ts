import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { newAccount } from '../../support/accounts/accounts.js';
import { Gw, type GwRun } from '../../support/gw/gw.js';
import { startReceiver, type WebhookReceiver } from '../../support/webhooks/receiver.js';
import { startWorld, type World } from '../../support/world.js';

const OWNER_ONLY = 0o600;

let world: World;
let receiver: WebhookReceiver;
let gw: Gw;
let places = 0;

beforeAll(async () => {
  receiver = await startReceiver();
  world = await startWorld();
});
beforeEach(async () => {
  const { key } = await newAccount(world.dataSource);
  gw = new Gw({ GW_URL: world.baseUrl, GW_MANAGEMENT_KEY: key });
});
afterEach(() => {
  gw.remove();
  receiver.answer(() => 200);
});
afterAll(async () => {
  await world.stop();
  await receiver.stop();
});

const errorOf = ({ exitCode, json: document }: GwRun) => [exitCode, document?.error?.code];
const file = (name: string) => join(gw.home, name);

/** Creates `on-call`, only for events about members. */
async function created(flags = '--event member.joined') {
  const place = `/gw-${++places}`;
  const run = await gw.run(
    `webhook create --url ${receiver.url}${place} --name on-call ${flags} --key-output hook.key --json`,
  );
  expect(run.exitCode).toBe(0);
  return { place, run, webhook: run.json.result.webhook, secret: readFileSync(file('hook.key'), 'utf8').trim() };
}

describe('gw webhook', () => {
  it('create → filters as given; the secret is only in its file and verifies what is sent', async () => {
    expect((await gw.run('app add --type server --name Notes --handle notes --key-output app.key')).exitCode).toBe(0);
    const { place, run, webhook, secret } = await created('--event app_key.* --event member.joined --app notes');
    expect(webhook).toMatchObject({ events: ['app_key.*', 'member.joined'], apps: [expect.stringMatching(/^notes-/)] });
    expect(run.json.result.secret_file).toBe(file('hook.key'));
    expect(run.stdout + run.stderr).not.toContain('whsec_');
    expect(statSync(file('hook.key')).mode & 0o777).toBe(OWNER_ONLY);
    expect((await gw.run('app key add notes --name Oslo --key-output oslo.key')).exitCode).toBe(0);
    const [event] = await receiver.until(place, 1);
    const headers = event?.headers as Record<string, string>;
    expect(new Webhook(secret).verify(event?.text ?? '', headers)).toMatchObject({ type: 'app_key.created' });
  });

  it('create without a place for the secret, or into an existing file → exit 2, and nothing is created', async () => {
    const line = `webhook create --url ${receiver.url}/none --json`;
    expect(errorOf(await gw.run(line))).toEqual([2, 'key_output_required']);
    await created();
    expect(errorOf(await gw.run(`${line} --key-output hook.key`))).toEqual([2, 'key_file_exists']);
    expect((await gw.run('webhook list --json')).json.result.webhooks).toHaveLength(1);
  });

  it('a refused creation → prints the refusal and writes no file', async () => {
    const run = await gw.run('webhook create --url https://10.0.0.1/x --key-output none.key --json');
    expect(errorOf(run)).toEqual([2, 'invalid_request']);
    expect(existsSync(file('none.key'))).toBe(false);
  });

  it('edit → only named settings change; filters can be cleared; nothing named, or no such webhook → exit 2', async () => {
    const { webhook } = await created();
    const edited = await gw.run('webhook edit on-call --name pager --clear-events --status disabled --json');
    expect(edited.json.result.webhook).toEqual({
      ...webhook,
      ...{ name: 'pager', events: null, enabled: false, updated_at: expect.any(String) },
    });
    const enabled = await gw.run('webhook edit pager --status enabled --event app.created --json');
    expect(enabled.json.result.webhook).toMatchObject({ enabled: true, events: ['app.created'] });
    expect((await gw.run('webhook show pager')).stdout).toMatch(/Status +enabled\n/);
    expect(errorOf(await gw.run('webhook edit pager --json'))).toEqual([2, 'nothing_to_change']);
    expect(errorOf(await gw.run('webhook edit nobody --name x --json'))).toEqual([2, 'not_found']);
  });

  it('two webhooks with the same name → only their ids identify them', async () => {
    const { webhook } = await created();
    await gw.run(`webhook create --url ${receiver.url}/twin --name on-call --key-output twin.key`);
    expect(errorOf(await gw.run('webhook show on-call --json'))).toEqual([2, 'ambiguous']);
    expect((await gw.run(`webhook show ${webhook.id} --json`)).json.result.webhook).toEqual(webhook);
  });

  it('rotate → a new secret in its file; the output says that the old one still signs', async () => {
    const { secret } = await created();
    const run = await gw.run('webhook rotate on-call --key-output new.key');
    expect([run.exitCode, run.stdout]).toEqual([
      0,
      expect.stringContaining('events are also signed with the old one for 24 hours'),
    ]);
    expect(run.stdout).not.toContain('whsec_');
    const rotated = readFileSync(file('new.key'), 'utf8').trim();
    expect([rotated, rotated === secret]).toEqual([expect.stringMatching(/^whsec_/), false]);
  });

  it('test → exit 0 only for a success status; deliveries and resend as in the API', async () => {
    const { place } = await created();
    expect((await gw.run('webhook test on-call')).stdout).toMatch(/^on-call accepted the event: 200 in \d+ ms\.\n$/);
    receiver.answer(() => 500);
    const failed = await gw.run('webhook test on-call --json');
    expect([failed.exitCode, failed.json.result.delivery.status]).toEqual([1, 'failed']);
    receiver.answer(() => 200);
    const list = await gw.run('webhook deliveries on-call --status failed --json');
    expect(list.json.result.deliveries).toMatchObject([{ type: 'webhook.test', response_status: 500 }]);
    const pages = await gw.run('webhook deliveries on-call --limit 1');
    expect([pages.stdout, pages.stderr]).toEqual([
      expect.stringContaining('webhook.test'),
      expect.stringMatching(/--before-id \d+/),
    ]);
    const [{ id }] = list.json.result.deliveries;
    expect((await gw.run(`webhook resend on-call ${id} --json`)).json.result.delivery).toMatchObject({ id });
    expect(await receiver.until(place, 3)).toHaveLength(3);
    const [, , sent] = await receiver.until(place, 3);
    const shown = await gw.run(`webhook delivery on-call ${id} --json`);
    expect(shown.json.result).toMatchObject({ delivery: { id }, body: sent?.text });
    expect((await gw.run(`webhook delivery on-call ${id}`)).stdout).toMatch(
      /Event +webhook\.test[\s\S]*\n {2}"timestamp": /,
    );
    for (const act of ['delivery', 'resend']) {
      expect(errorOf(await gw.run(`webhook ${act} on-call 999999999 --json`))).toEqual([2, 'not_found']);
    }
  });

  it('resend to a disabled webhook → says how to enable it', async () => {
    await created();
    const { delivery } = (await gw.run('webhook test on-call --json')).json.result;
    await gw.run('webhook edit on-call --status disabled');
    const run = await gw.run(`webhook resend on-call ${delivery.id} --json`);
    expect(run.json.error).toMatchObject({
      ...{ code: 'conflict', nextAction: 'Enable it: gw webhook edit on-call --status enabled' },
    });
  });

  it('delete → only when confirmed', async () => {
    await created();
    expect(errorOf(await gw.run('webhook delete on-call --json'))).toEqual([2, 'confirmation_required']);
    expect((await gw.run('webhook delete on-call --yes --json')).json.result.deleted).toBe(true);
    expect((await gw.run('webhook list')).stdout).toBe('There are no webhooks. Add one: gw webhook create\n');
  });
});
