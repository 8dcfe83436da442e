import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { hsmVault } from '../../../examples/extension/hsm-vault.js';
import type { Secret } from '../../../src/common/log/secret.js';
import { Vault } from '../../../src/platform/vault/vault.js';
import { codeOf } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
import { type KeyServer, startKeyServer } from '../../support/platform/key-server.js';
import { ProxyClient, refusalOf } from '../../support/proxy/proxy-client.js';
import { rejectionOf } from '../../support/rejection-of.js';
import { startWorld, type World } from '../../support/world.js';

const CHAT = 'v1/chat/completions';
const BODY = { model: 'gpt-4.1', messages: [] };
const SOON = { withinMs: 10_000 };

/** An error with a secret in its message. */
class BrokenVault extends Vault {
  readonly state = 'ok';

  async seal(secret: Secret): Promise<string> {
    throw new Error(`cannot seal ${secret.reveal()}`);
  }

  async open(blob: string): Promise<Secret> {
    throw new Error(`cannot open ${blob}`);
  }

  needsRewrap(): boolean {
    return false;
  }
}

let keyServer: KeyServer;
let world: World;

beforeAll(async () => {
  keyServer = await startKeyServer();
  world = await startWorld({ vault: hsmVault(keyServer.url) });
});

beforeEach(() => keyServer.repair());

afterAll(async () => {
  await world.stop();
  await keyServer.close();
});

async function storedBlob(id: string): Promise<string> {
  const [row] = await world.dataSource.query('SELECT secret_blob FROM providers WHERE id = $1', [id]);
  return row.secret_blob;
}

describe('a vault of an extension (docs/extending.md)', () => {
  it('health and readiness → report its state', async () => {
    expect((await world.as(undefined).get('/v1/healthz')).body.vault).toBe('ok');
    expect((await world.as(undefined).get('/v1/readyz')).body).toMatchObject({ ready: true, vault: 'ok' });
  });

  it('a provider key → sealed by it, stored as it returns it, opened by it for a call', async () => {
    const client = await ProxyClient.create(world, { provider: { secret: 'sk-of-the-hsm' } });
    expect(await storedBlob(client.providerId)).toMatch(/^hsm1\.sealed-\d+$/);
    expect((await client.call(CHAT, { body: BODY })).status).toBe(200);
    expect(world.upstream.requests.at(-1)?.header('authorization')).toBe('Bearer sk-of-the-hsm');
    expect(keyServer.asked).toEqual(expect.arrayContaining(['seal', 'open']));
  });

  it('a blob in another row → does not open', async () => {
    const [one, two] = [await ProxyClient.create(world), await ProxyClient.create(world)];
    await world.dataSource.query(
      'UPDATE providers SET secret_blob = (SELECT secret_blob FROM providers WHERE id = $1) WHERE id = $2',
      [one.providerId, two.providerId],
    );
    // Instances read again what changed.
    await world.api.put(`/v1/admin/providers/${two.providerId}`, { name: 'Moved' });
    expect(refusalOf(await two.call(CHAT, { body: BODY }))).toEqual([502, 'provider_unavailable']);
    expect(world.logs).toContainEqual(
      expect.objectContaining({ providerId: two.providerId, reason: 'secret_undecryptable' }),
    );
  });

  it('the vault does not answer → calls and new keys are refused with provider_unavailable; everything else works', async () => {
    const client = await ProxyClient.create(world);
    keyServer.breakDown();
    expect(refusalOf(await client.call(CHAT, { body: BODY }))).toEqual([502, 'provider_unavailable']);
    const created = await world.api.post('/v1/admin/providers', { type: 'groq', name: 'New', secret: 'sk-12345678' });
    expect([created.status, created.body.error.code]).toEqual([502, 'provider_unavailable']);
    expect((await world.api.get('/v1/admin/providers')).status).toBe(200);
    expect(world.logs).toContainEqual(expect.objectContaining({ reason: 'vault_unreachable' }));
  });

  it('the vault is not configured → the service starts, reports misconfigured and opens no key', async () => {
    const other = await startWorld({ vault: hsmVault(undefined) });
    try {
      expect((await other.as(undefined).get('/v1/healthz')).body.vault).toBe('misconfigured');
      expect(other.logs).toContainEqual(
        expect.objectContaining({ message: 'secret_vault_misconfigured', error: 'HSM_URL is required' }),
      );
      const body = { type: 'groq', name: 'New', secret: 'sk-12345678' };
      expect((await other.api.post('/v1/admin/providers', body)).body.error.code).toBe('provider_unavailable');
    } finally {
      await other.stop();
    }
  });

  it('the vault cannot be created → the start fails with its message', async () => {
    const started = startWorld({
      vault: async () => {
        throw new Error('no HSM here');
      },
    });
    expect(await rejectionOf(started)).toMatchObject({ message: 'no HSM here' });
  });

  it('the vault fails with its own message → provider_unavailable, and the message is not logged', async () => {
    const other = await startWorld({ vault: () => new BrokenVault() });
    try {
      const body = { type: 'groq', name: 'New', secret: 'sk-12345678' };
      expect(codeOf(await other.api.post('/v1/admin/providers', body))).toEqual([502, 'provider_unavailable']);
      expect(other.logs).toContainEqual(expect.objectContaining({ reason: 'vault_failed' }));
      expect(JSON.stringify(other.logs)).not.toContain('sk-12345678');
    } finally {
      await other.stop();
    }
  });

  it('stop → the vault is closed', async () => {
    const before = keyServer.openConnections();
    const other = await startWorld({ vault: hsmVault(keyServer.url) });
    await other.provider();
    expect(keyServer.openConnections()).toBe(before + 1);
    await other.stop();
    await eventually(() => keyServer.openConnections() === before, SOON);
  });
});
