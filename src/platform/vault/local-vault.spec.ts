import { createSecretKey, randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fuzzRuns } from '../../../test/support/jest/fuzz-runs.js';
import { SystemIds } from '../../common/ids.js';
import { Secret } from '../../common/log/secret.js';
import { createVault } from './create-vault.js';
import { LocalVault } from './local-vault.js';

const KEYS = new Map([1, 3, 12].map((version) => [version, createSecretKey(randomBytes(32))]));
const vaultAt = (currentVersion: number) =>
  new LocalVault({ mode: 'local', keys: KEYS, currentVersion }, new SystemIds());
const vault = vaultAt(3);
const CONTEXT = { account: 'org_1', provider: 'p_1', type: 'openai', baseUrl: '' };
const UNDECRYPTABLE = { code: 'provider_unavailable', status: 502, reason: 'secret_undecryptable' };

const context = fc.dictionary(
  fc.string().filter((name) => name !== 'service'),
  fc.string(),
  { maxKeys: 5, noNullPrototype: true },
);
const wellFormed = fc.string({ unit: 'binary' });

describe('LocalVault', () => {
  it('any secret, same context in any order → opens to the same secret', async () => {
    await fc.assert(
      fc.asyncProperty(wellFormed, context, async (text, bound) => {
        const reordered = Object.fromEntries(Object.entries(bound).reverse());
        const blob = await vault.seal(new Secret(text), bound);
        expect((await vault.open(blob, reordered)).reveal()).toBe(text);
      }),
    );
  });

  it('blob → format, current version, a fresh nonce each time', async () => {
    const blobs = await Promise.all([1, 2].map(() => vault.seal(new Secret('sk-1'), CONTEXT)));
    for (const blob of blobs) expect(blob).toMatch(/^local1\.3\.[\w-]{16}\.[\w-]{27}$/);
    expect(blobs[0]?.split('.')[2]).not.toBe(blobs[1]?.split('.')[2]);
  });

  it('any bit of the blob flipped → does not open', async () => {
    const blob = await vault.seal(new Secret('sk-live-123'), CONTEXT);
    await fc.assert(
      fc.asyncProperty(fc.nat(blob.length - 1), fc.nat(6), async (index, bit) => {
        const flipped = String.fromCharCode(blob.charCodeAt(index) ^ (1 << bit));
        const damaged = blob.slice(0, index) + flipped + blob.slice(index + 1);
        await expect(vault.open(damaged, CONTEXT)).rejects.toMatchObject(UNDECRYPTABLE);
      }),
      { numRuns: fuzzRuns(500) },
    );
  });

  it('a different context → does not open', async () => {
    await fc.assert(
      fc.asyncProperty(context, context, async (sealedFor, openedFor) => {
        fc.pre(!sameMembers(sealedFor, openedFor));
        const blob = await vault.seal(new Secret('sk'), sealedFor);
        await expect(vault.open(blob, openedFor)).rejects.toMatchObject(UNDECRYPTABLE);
      }),
    );
  });

  it('one member of the context changed (moved blob) → does not open', async () => {
    const blob = await vault.seal(new Secret('sk'), CONTEXT);
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...Object.keys(CONTEXT)), fc.string({ minLength: 8 }), async (name, value) => {
        await expect(vault.open(blob, { ...CONTEXT, [name]: value })).rejects.toMatchObject(UNDECRYPTABLE);
      }),
    );
  });

  it('arbitrary text as blob → undecryptable, nothing else', async () => {
    const part = fc.oneof(fc.string(), fc.constantFrom('local1', 'kms1', '3', '', 'AAAAAAAAAAAAAAAA', '__proto__'));
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 6 }), async (parts) => {
        await expect(vault.open(parts.join('.'), CONTEXT)).rejects.toMatchObject(UNDECRYPTABLE);
      }),
    );
  });

  it.each([
    ['leading zero in the version', (blob: string) => blob.replace('.3.', '.03.')],
    ['a version without a key', (blob: string) => blob.replace('.3.', '.4.')],
    ['the version of another key', (blob: string) => blob.replace('.3.', '.1.')],
    ['padding', (blob: string) => `${blob}=`],
    ['a further part', (blob: string) => `${blob}.AAAA`],
    ['white space', (blob: string) => `${blob}\n`],
    ['the other format', (blob: string) => blob.replace('local1', 'kms1')],
  ])('%s → does not open', async (_name, change) => {
    const blob = await vault.seal(new Secret('sk'), CONTEXT);
    await expect(vault.open(change(blob), CONTEXT)).rejects.toMatchObject(UNDECRYPTABLE);
  });

  it('rotation → old versions open and need resealing, the current and unreadable ones do not', async () => {
    const old = await vaultAt(1).seal(new Secret('sk-old'), CONTEXT);
    const newer = await vaultAt(12).seal(new Secret('sk-new'), CONTEXT);
    expect((await vault.open(old, CONTEXT)).reveal()).toBe('sk-old');
    expect(vault.needsRewrap(old)).toBe(true);
    expect(vault.needsRewrap(await vault.seal(new Secret('sk'), CONTEXT))).toBe(false);
    expect(vaultAt(3).needsRewrap(newer)).toBe(false);
    expect(vault.needsRewrap('nonsense')).toBe(false);
  });

  it('a context with the reserved member → refused when sealing', async () => {
    await expect(vault.seal(new Secret('sk'), { service: 'other' })).rejects.toThrow('"service" is reserved');
  });

  it('failure → neither blob nor secret in the error', async () => {
    const blob = await vault.seal(new Secret('sk-very-private'), CONTEXT);
    const failure: unknown = await vault.open(blob, {}).catch((error: unknown) => error);
    expect(JSON.stringify(failure, Object.getOwnPropertyNames(failure))).not.toMatch(/sk-very|local1/);
  });
});

describe('createVault', () => {
  it('local settings → a working vault in state ok', async () => {
    const made = createVault({ mode: 'local', keys: KEYS, currentVersion: 1 }, new SystemIds());
    expect(made.state).toBe('ok');
    expect((await vault.open(await made.seal(new Secret('sk'), CONTEXT), CONTEXT)).reveal()).toBe('sk');
    await expect(made.close()).resolves.toBeUndefined();
  });

  it('misconfiguration → state is misconfigured, every seal and open is refused', async () => {
    const made = createVault({ variable: 'SECRET_VAULT_MODE', problem: 'is required' }, new SystemIds());
    const refusal = { code: 'provider_unavailable', reason: 'vault_misconfigured' };
    expect(made.state).toBe('misconfigured');
    expect(made.needsRewrap('local1.1.a.b')).toBe(false);
    await expect(made.seal(new Secret('sk'), CONTEXT)).rejects.toMatchObject(refusal);
    await expect(made.open('local1.1.a.b', CONTEXT)).rejects.toMatchObject(refusal);
  });
});

function sameMembers(a: Record<string, string>, b: Record<string, string>): boolean {
  const sorted = (members: Record<string, string>) => JSON.stringify(Object.entries(members).sort());
  return sorted(a) === sorted(b);
}
