import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newAccount } from '../../support/accounts/accounts.js';
import type { ApiClient } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
import { Gw } from '../../support/gw/gw.js';
import { losing } from '../../support/gw/lossy-proxy.js';
import { PROGRAM } from '../../support/gw/pty.js';
import type { Loopback } from '../../support/loopback.js';
import { startWorld, type World } from '../../support/world.js';

const CTRL_C = '\u0003';
const ENTER = '\r';
const SECRET = 'sk-typed-unseen-4711';
let world: World;
let gw: Gw;
let api: ApiClient;
let key: string;

beforeAll(async () => {
  world = await startWorld();
});
beforeEach(async () => {
  ({ key } = await newAccount(world.dataSource));
  api = world.as(key);
  gw = new Gw({ GW_URL: world.baseUrl, GW_MANAGEMENT_KEY: key });
});
afterEach(() => gw.remove());
afterAll(() => world.stop());

const providers = async () => (await api.get('/v1/admin/providers')).body.providers;

describe('on a terminal', () => {
  it('asks for a key, and does not echo the input', async () => {
    const session = gw.onTerminal('provider add --type openai');
    await session.shows('Key of OpenAI');
    session.type(SECRET);
    session.type(ENTER);
    expect(await session.ended).toBe(0);
    expect(session.screen).toContain('Added openai.');
    expect(session.written).not.toContain(SECRET);
    expect(await providers()).toMatchObject([{ secretHint: '4711' }]);
  });

  it('Ctrl-C at the question → 130, and nothing is changed', async () => {
    const session = gw.onTerminal('provider add --type openai');
    await session.shows('Key of OpenAI');
    session.type(CTRL_C);
    expect(await session.ended).toBe(130);
    expect(session.screen).toContain('Nothing was changed.');
    expect(await providers()).toEqual([]);
  });

  it.each([
    ['n', 130, 1],
    ['y', 0, 0],
  ])('a removal asks; "%s" → exit %i', async (answer, exitCode, left) => {
    await api.post('/v1/admin/providers', { type: 'openai', name: 'OpenAI', secret: SECRET });
    const session = gw.onTerminal('provider remove openai');
    await session.shows('Remove the provider openai');
    session.type(answer);
    expect(await session.ended).toBe(exitCode);
    expect(await providers()).toHaveLength(left);
  });

  it('--no-input → does not ask, exit 2', async () => {
    const session = gw.onTerminal('provider add --type openai --no-input');
    expect(await session.ended).toBe(2);
    expect(session.screen).toContain('key_required');
  });

  it('without an address → asks for it', async () => {
    const session = gw.onTerminal('deployment connect', { GW_URL: '', GW_MANAGEMENT_KEY: '' });
    await session.shows('Address of the gateway');
    session.type(world.baseUrl);
    session.type(ENTER);
    expect(await session.ended).toBe(0);
  });

  it('an answer that takes longer than half a second → shows a progress message, and clears it', async () => {
    const shown = Promise.withResolvers<void>();
    const slow = await losing(
      world.baseUrl,
      () => false,
      () => shown.promise,
    );
    const session = gw.onTerminal('provider list', { GW_URL: slow.url });
    await session.shows('Working');
    shown.resolve();
    expect(await session.ended).toBe(0);
    expect(session.written).toContain('\r\u001b[K⠋ Working');
    expect(session.written.lastIndexOf('\r\u001b[K')).toBeGreaterThan(session.written.lastIndexOf('Working'));
    await slow.close();
  });

  it('Ctrl-C while it waits for an approval → 130, and the same login continues later', async () => {
    const session = gw.onTerminal('account login --no-open', { GW_MANAGEMENT_KEY: '' });
    await session.shows('Waiting for the approval');
    session.type(CTRL_C);
    expect(await session.ended).toBe(130);
    expect(session.screen).toContain('The login is still pending');
    const { json } = await gw.run('account login --no-input --json', '', { GW_MANAGEMENT_KEY: '' });
    expect(session.screen.replaceAll(/\s/g, '')).toContain(json.result.url);
  });

  it('the terminal is closed while it waits → the program exits', async () => {
    const session = gw.onTerminal('account login --no-open', { GW_MANAGEMENT_KEY: '' });
    await session.shows('Waiting for the approval');
    session.close();
    expect(await session.ended).not.toBe(undefined);
  });
});

describe('gw apply, stopped with Ctrl-C', () => {
  let slow: Loopback;
  let holds: (() => void)[] = [];

  beforeEach(async () => {
    holds = [];
    mkdirSync(join(gw.home, 'g/apps'), { recursive: true });
    for (const name of ['one', 'two', 'three']) {
      const config = '{ authentication: { type: api_key }, routing: { providers: { mode: all }, model_rewrites: {} } }';
      writeFileSync(join(gw.home, `g/apps/${name}.yaml`), `name: ${name}\nhandle: ${name}\nconfig: ${config}\n`);
    }
    slow = await losing(
      world.baseUrl,
      () => false,
      (method, path) =>
        new Promise((resolve) => {
          if (method === 'POST' && path === '/v1/admin/apps') holds.push(resolve);
          else resolve();
        }),
    );
  });
  afterEach(() => slow.close());

  const held = (count: number) => eventually(() => holds.length >= count, { withinMs: 20_000 });

  it('→ the running change is completed, no other starts, exit code 130 with the progress; run again, it continues', async () => {
    const session = gw.onTerminal('apply g --key-output keys --yes', { GW_URL: slow.url });
    await held(1);
    session.type(CTRL_C);
    await session.shows('^C');
    holds[0]?.();
    expect(await session.ended).toBe(130);
    expect(session.screen).toContain('Interrupted. 1 of 3 changes were made');
    expect(session.screen).toMatch(
      /\+ created application one\s+not made: create application three\s+not made: create/,
    );
    expect((await api.get('/v1/admin/apps')).body.total).toBe(1);
    expect((await gw.run('apply g --key-output keys --json')).json.result.applied).toHaveLength(2);
    expect((await gw.run('plan g --check --json')).exitCode).toBe(0);
  });

  it('twice → exits at once; run again, it returns the key of the interrupted change', async () => {
    const session = gw.onTerminal('apply g --key-output keys --yes', { GW_URL: slow.url });
    await held(1);
    session.type(CTRL_C);
    await session.shows('^C');
    session.type(CTRL_C);
    expect(await session.ended).toBe(130);
    holds[0]?.();
    const again = gw.run('apply g --key-output keys --json', '', { GW_URL: slow.url });
    for (const count of [2, 3, 4]) {
      await held(count);
      holds[count - 1]?.();
    }
    expect((await again).exitCode).toBe(0);
    expect((await api.get('/v1/admin/apps')).body.total).toBe(3);
    expect((await gw.run('plan g --check --json')).exitCode).toBe(0);
  });
});

describe('gw doctor, stopped with Ctrl-C', () => {
  it('→ the checks that were made are printed, exit code 130 says that the others were not', async () => {
    for (const slug of ['one', 'two'])
      await api.post('/v1/admin/providers', { type: 'openai', name: slug, slug, secret: SECRET });
    const reached = Promise.withResolvers<void>();
    const slow = await losing(
      world.baseUrl,
      () => false,
      (method) =>
        new Promise((resolve) => {
          if (method === 'POST') reached.resolve();
          else resolve();
        }),
    );
    const session = gw.onTerminal('doctor', { GW_URL: slow.url });
    await reached.promise;
    session.type(CTRL_C);
    expect(await session.ended).toBe(130);
    expect(session.screen).toMatch(/passed +Postgres/);
    expect(session.screen).toMatch(/passed +streams/);
    expect(session.screen).toContain('Interrupted. The other checks were skipped.');
    await slow.close();
  });
});

describe('gw apply on a terminal', () => {
  beforeEach(() => {
    mkdirSync(join(gw.home, 'g/apps'), { recursive: true });
    const config = '{ authentication: { type: api_key }, routing: { providers: { mode: all }, model_rewrites: {} } }';
    writeFileSync(join(gw.home, 'g/apps/one.yaml'), `name: one\nhandle: one\nconfig: ${config}\n`);
  });

  it.each([
    ['n', 130, 0],
    ['y', 0, 1],
  ])('shows what it will do and asks; "%s" → exit %i', async (answer, exitCode, total) => {
    const session = gw.onTerminal('apply g --key-output keys');
    await session.shows('Make this change?');
    expect(session.screen).toContain('+ create application one');
    expect(session.screen).toContain('! Anyone with its key may call it.');
    session.type(answer);
    expect(await session.ended).toBe(exitCode);
    expect((await api.get('/v1/admin/apps')).body.total).toBe(total);
    if (total === 1) expect(session.screen).toMatch(/\+ created application one\s+Done: 1 change\./);
  });

  it('nothing to do → does not ask', async () => {
    await gw.run('apply g --key-output keys');
    const session = gw.onTerminal('apply g');
    expect(await session.ended).toBe(0);
    expect(session.screen).toContain('The account matches the directory.');
  });
});

describe('standard streams', () => {
  const shell = (line: string) =>
    promisify(execFile)('/bin/bash', ['-o', 'pipefail', '-c', line], {
      cwd: gw.home,
      env: {
        HOME: gw.home,
        XDG_STATE_HOME: gw.home,
        PATH: '/usr/bin:/bin',
        GW_URL: world.baseUrl,
        GW_MANAGEMENT_KEY: key,
      },
    });
  const program = `${process.execPath} ${PROGRAM}`;

  it('a reader that closes early → no failure, nothing on standard error', async () => {
    const { stderr } = await shell(`${program} provider types | head -n 1; ${program} --help | true`);
    expect(stderr).toBe('');
  });

  it('standard output that is closed → no stack', async () => {
    const { stderr } = await shell(`${program} provider types >&- || true`);
    expect(stderr).not.toContain('at ');
  });

  it('standard output that is full → one sentence, no stack', async () => {
    const { stderr } = await shell(`${program} provider types >/dev/full || true`);
    expect(stderr).toMatch(/^Error: .*ENOSPC.*\n/);
    expect(stderr).not.toContain(' at ');
  });

  it('not a terminal → no control sequences', async () => {
    const { stdout } = await shell(`${program} provider types 2>&1`);
    expect(stdout).not.toContain('\u001b');
  });
});
