import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { acmeType } from '../../../examples/extension/acme-type.js';
import { type RunningGateway, startGateway } from '../../../src/bootstrap/start.js';
import { dropDatabase, freshDatabase } from '../../support/platform/database.js';
import { newSignUp } from '../../support/sign-in/console.js';
import { newManagementKey, testEnvironment } from '../../support/world.js';

const NO_DATABASE = 'postgres://nobody@127.0.0.1:1/none';
const KEY_WAY = 'BOOTSTRAP_MANAGEMENT_KEY=';
const SIGN_UP = /(http\S+)\/signup$/m;
const log = () => undefined;

let ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
});

/** A separate database and directory, without an account. */
async function emptyDeployment(): Promise<Record<string, string>> {
  const url = await freshDatabase();
  const directory = mkdtempSync(join(tmpdir(), 'gateway-start-'));
  ends.push(async () => rmSync(directory, { recursive: true }));
  ends.push(() => dropDatabase(url));
  return { ...testEnvironment(url, directory, ''), REDIS_URL: '' };
}

/** The text of the banner, and the result of `meanwhile` before the gateway stops. */
async function bannerOf(
  settings: Readonly<Record<string, string>>,
  meanwhile: (gateway: RunningGateway) => Promise<unknown> = async () => undefined,
): Promise<string> {
  const gateway = await startGateway(settings, { log });
  try {
    await meanwhile(gateway);
  } finally {
    await gateway.stop('test');
  }
  return gateway.banner;
}

/** Registers where the banner says, as its page does. */
async function register({ banner }: RunningGateway): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const [page = '', origin = ''] = SIGN_UP.exec(banner) ?? [];
  expect((await fetch(page)).headers.get('content-type')).toMatch('text/html');
  const { status } = await fetch(`${origin}/v1/auth/sign-up/email`, {
    method: 'POST',
    headers,
    body: JSON.stringify(newSignUp()),
  });
  expect(status).toBe(200);
}

function waysOf(banner: string) {
  return { key: banner.includes(KEY_WAY), register: SIGN_UP.test(banner) };
}

describe('the banner of a start', () => {
  it('an empty deployment → both ways to sign up; after the first person has registered → none, unless the setting opens it', async () => {
    const settings = await emptyDeployment();
    expect(waysOf(await bannerOf(settings, register))).toEqual({ key: true, register: true });
    expect(waysOf(await bannerOf(settings))).toEqual({ key: false, register: false });
    const open = { ...settings, ALLOW_ADDITIONAL_REGISTRATIONS: 'true' };
    expect(waysOf(await bannerOf(open, register))).toEqual({ key: false, register: true });
  });

  it('HOST for other machines and no PUBLIC_URL → names the console on this machine, and the setting; so does the answer to another host', async () => {
    const settings = { ...(await emptyDeployment()), HOST: '0.0.0.0' };
    const pages: string[] = [];
    const banner = await bannerOf(settings, async ({ url }) => {
      const { port } = new URL(url);
      const { body } = await request(`http://127.0.0.1:${port}`)
        .get('/')
        .set('host', `gateway.internal:${port}`)
        .expect(404);
      pages.push(body.error.message);
    });
    expect(banner).toMatch(/PUBLIC_URL is not set, but HOST accepts other machines/);
    expect(banner).toMatch(/Console +http:\/\/localhost:\d+\n/);
    expect(pages[0]).toMatch(/^This is served under .* only; open it there, or set PUBLIC_URL/);
    expect(await bannerOf({ ...settings, PUBLIC_URL: 'https://gateway.example.com' })).not.toContain('is not set');
  });

  it('an account that no person owns → only registration', async () => {
    const settings = { ...(await emptyDeployment()), BOOTSTRAP_MANAGEMENT_KEY: newManagementKey() };
    expect(waysOf(await bannerOf(settings))).toEqual({ key: false, register: true });
  });
});

describe('settings', () => {
  it('a start → each is read once', async () => {
    const settings = await emptyDeployment();
    const names: (string | symbol)[] = [];
    const noted = new Proxy(settings, {
      get(all, name) {
        names.push(name);
        return Reflect.get(all, name);
      },
    });
    await bannerOf(noted);
    expect(names.filter((name) => name === 'TRUSTED_PRIVATE_HOSTS')).toHaveLength(1);
  });

  it('an invalid provider type → the start fails before anything is opened', async () => {
    const settings = { ...testEnvironment(NO_DATABASE, '/nowhere', ''), DATABASE_WAIT_SECONDS: '0' };
    const wrong = { ...acmeType('https://acme.example.com/'), name: 'openai' };
    await expect(startGateway(settings, { log, providerTypes: [wrong] })).rejects.toThrow(
      'taken by another provider type',
    );
  });
});
