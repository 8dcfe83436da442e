import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { aProviderRow } from '../../test/support/providers/provider-instances.js';
import { Clock } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { Log } from '../common/log/log.js';
import { Secret } from '../common/log/secret.js';
import { MisconfiguredVault, secretUndecryptable, Vault, VaultUnreachable } from '../platform/vault/vault.js';
import { ProviderCredential } from './provider-credential.js';
import { OpenSecrets } from './secret-patterns.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

class ManualClock extends Clock {
  atMs = 5_000;

  nowMs(): number {
    return this.atMs;
  }

  monotonicMs(): number {
    return this.atMs;
  }
}

/** A vault with scripted results and a call count. */
class ScriptedVault extends Vault {
  readonly state = 'ok';
  opened = 0;
  answer: () => Promise<Secret> = async () => new Secret('sk-first');

  async seal(): Promise<string> {
    throw new Error('not part of this test');
  }

  open(): Promise<Secret> {
    this.opened++;
    return this.answer();
  }

  needsRewrap(): boolean {
    return false;
  }
}

const ROW = aProviderRow({ id: 'provider-1', secretBlob: 'blob-1', secretHint: 'irst' });
const FIRST = ['authorization', 'Bearer sk-first'];
const SECOND = ['authorization', 'Bearer sk-second'];

function setUp(vault: Vault = new ScriptedVault()) {
  const clock = new ManualClock();
  const lines: Record<string, unknown>[] = [];
  const log = new Log(clock, 'debug', (line) => lines.push(JSON.parse(line)));
  return { clock, lines, credential: new ProviderCredential(ROW, { vault, clock, log, secrets: new OpenSecrets() }) };
}

function setUpScripted() {
  const vault = new ScriptedVault();
  return { vault, ...setUp(vault) };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const unreachable = () => Promise.reject(new VaultUnreachable('connect refused'));

describe('ProviderCredential', () => {
  it('sealed key: many callers at once → opened once; afterwards the same frozen list at once', async () => {
    const { vault, credential } = setUpScripted();
    const answers = await Promise.all([credential.headers(), credential.headers(), credential.headers()]);
    expect(answers).toEqual([FIRST, FIRST, FIRST]);
    expect(vault.opened).toBe(1);
    const warm = credential.headers();
    expect(warm).toBe(answers[0]);
    expect(Object.isFrozen(warm)).toBe(true);
  });

  it('open key: from 30 s on → renewed in the background while it is used', async () => {
    const { vault, clock, credential } = setUpScripted();
    await credential.headers();
    vault.answer = async () => new Secret('sk-second');
    clock.atMs += 29_999;
    expect(credential.headers()).toEqual(FIRST);
    expect(vault.opened).toBe(1);
    clock.atMs += 1;
    expect(credential.headers()).toEqual(FIRST);
    await settled();
    expect(credential.headers()).toEqual(SECOND);
    expect(vault.opened).toBe(2);
  });

  it('open key: at 60 s → no longer used without the vault', async () => {
    const { vault, clock, credential } = setUpScripted();
    await credential.headers();
    vault.answer = async () => new Secret('sk-second');
    clock.atMs += MINUTE_MS;
    const answer = credential.headers();
    expect(answer).toBeInstanceOf(Promise);
    expect(await answer).toEqual(SECOND);
  });

  it('vault unreachable: a key opened before → still used, synchronously again after the first wait', async () => {
    const { vault, clock, credential, lines } = setUpScripted();
    await credential.headers();
    vault.answer = unreachable;
    clock.atMs += MINUTE_MS;
    expect(await credential.headers()).toEqual(FIRST);
    expect(credential.headers()).toEqual(FIRST);
    expect(lines).toEqual([
      expect.objectContaining({
        message: 'provider_secret_unavailable',
        level: 'error',
        providerId: 'provider-1',
        reason: 'vault_unreachable',
        detail: 'connect refused',
      }),
    ]);
  });

  it('vault unreachable: for an hour past the minute → used until then and not longer', async () => {
    const { vault, clock, credential } = setUpScripted();
    await credential.headers();
    vault.answer = unreachable;
    clock.atMs += MINUTE_MS + HOUR_MS - 1;
    expect(await credential.headers()).toEqual(FIRST);
    clock.atMs += 1;
    await expect(credential.headers()).rejects.toMatchObject({ code: 'provider_unavailable' });
  });

  it('vault unreachable: then back → the new key within seconds', async () => {
    const { vault, clock, credential } = setUpScripted();
    await credential.headers();
    vault.answer = unreachable;
    clock.atMs += MINUTE_MS;
    await credential.headers();
    vault.answer = async () => new Secret('sk-second');
    clock.atMs += 2_000;
    void credential.headers();
    await settled();
    expect(credential.headers()).toEqual(SECOND);
  });

  it('blob no longer opens: a key opened before → dropped at once, because the vault has refused it', async () => {
    const { vault, clock, credential } = setUpScripted();
    await credential.headers();
    vault.answer = () => Promise.reject(secretUndecryptable());
    clock.atMs += 30_000;
    void credential.headers();
    await settled();
    await expect(credential.headers()).rejects.toMatchObject({ reason: 'secret_undecryptable' });
  });

  it('failure: many callers → one vault call and one log line in two seconds', async () => {
    const { vault, clock, credential, lines } = setUpScripted();
    vault.answer = unreachable;
    for (let call = 0; call < 5; call++) {
      await expect(credential.headers()).rejects.toMatchObject({ code: 'provider_unavailable', status: 502 });
    }
    expect([vault.opened, lines.length]).toEqual([1, 1]);
    clock.atMs += 2_000;
    vault.answer = async () => new Secret('sk-first');
    expect(await credential.headers()).toEqual(FIRST);
  });

  it('failure without a waiting caller → no unhandled rejection', async () => {
    const { vault, credential } = setUpScripted();
    vault.answer = unreachable;
    void credential.headers();
    await settled();
    void credential.headers();
    await settled();
  });

  it('misconfigured vault: → provider_unavailable, and the log says why', async () => {
    const { credential, lines } = setUp(new MisconfiguredVault());
    await expect(credential.headers()).rejects.toMatchObject({ code: 'provider_unavailable' });
    expect(lines[0]).toMatchObject({ reason: 'vault_misconfigured' });
  });

  it('unexpected error: → provider_unavailable, its text not shown to the client', async () => {
    const { vault, credential } = setUpScripted();
    vault.answer = () => Promise.reject(new Error('inner detail'));
    const error = await Promise.resolve(credential.headers()).catch((refusal: unknown) => refusal);
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({ code: 'provider_unavailable', message: expect.not.stringContaining('inner') });
  });

  it('printing a decrypted key → shows none of it', async () => {
    const { credential } = setUpScripted();
    await credential.headers();
    const printed = inspect(credential, { depth: null, showHidden: true }) + JSON.stringify(credential);
    expect(printed).not.toContain('sk-first');
  });

  it('identity: another blob, row, type or address → not the same key', () => {
    const { credential } = setUp();
    expect(credential.isOf({ ...ROW, name: 'Renamed', revision: 2 })).toBe(true);
    expect(credential.isOf({ ...ROW, secretBlob: 'blob-2' })).toBe(false);
    expect(credential.isOf({ ...ROW, baseUrl: 'https://elsewhere.example.com/' })).toBe(false);
    expect(credential.isOf({ ...ROW, id: 'provider-2' })).toBe(false);
    expect(credential.isOf({ ...ROW, type: 'groq' })).toBe(false);
    expect(credential.isOf({ ...ROW, organizationId: 'account-2' })).toBe(false);
  });
});
