import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { startGateway } from '../../src/start.js';
import { acmeType } from '../extension/acme-type.js';
import { dropDatabase, freshDatabase } from '../support/database.js';
import { testEnvironment } from '../support/world.js';

const NO_DATABASE = 'postgres://nobody@127.0.0.1:1/none';
const log = () => undefined;

let ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
});

/** A database and a directory of their own, with no account. */
async function emptyDeployment(): Promise<Record<string, string>> {
  const url = await freshDatabase();
  const directory = mkdtempSync(join(tmpdir(), 'gateway-start-'));
  ends.push(async () => rmSync(directory, { recursive: true }));
  ends.push(() => dropDatabase(url));
  return { ...testEnvironment(url, directory, ''), REDIS_URL: '' };
}

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
    await (await startGateway(noted, { log })).stop('test');
    expect(names.filter((name) => name === 'TRUSTED_PRIVATE_HOSTS')).toHaveLength(1);
  });

  it('a provider type that is wrong → the start fails before anything is opened', async () => {
    const settings = { ...testEnvironment(NO_DATABASE, '/nowhere', ''), DATABASE_WAIT_SECONDS: '0' };
    const wrong = { ...acmeType('https://acme.example.com/'), name: 'openai' };
    await expect(startGateway(settings, { log, providerTypes: [wrong] })).rejects.toThrow(
      'taken by another provider type',
    );
  });
});
