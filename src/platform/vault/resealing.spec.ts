import { createSecretKey, randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { SystemIds } from '../../common/ids.js';
import { Secret } from '../../common/log/secret.js';
import { LocalVault } from './local-vault.js';
import { resealOldSecrets, type SecretRows, type StoredSecret } from './resealing.js';
import { VaultUnreachable } from './vault.js';

const KEYS = new Map([1, 2].map((version) => [version, createSecretKey(randomBytes(32))]));
const vaultAt = (currentVersion: number) =>
  new LocalVault({ mode: 'local', keys: KEYS, currentVersion }, new SystemIds());
const NEVER = new AbortController().signal;
const contextOf = (id: string) => ({ account: 'org_1', provider: id });

/** An in-memory table; `onReplace` runs before each write. */
class ScriptedRows implements SecretRows {
  readonly blobs = new Map<string, string>();
  onReplace: (id: string) => void = () => undefined;

  async page(afterId: string, limit: number): Promise<StoredSecret[]> {
    const behind = [...this.blobs].filter(([id]) => id > afterId).sort(([a], [b]) => (a < b ? -1 : 1));
    return behind.slice(0, limit).map(([id, blob]) => ({ organizationId: 'org_1', id, blob, context: contextOf(id) }));
  }

  async replace({ id, blob }: StoredSecret, replacement: string): Promise<boolean> {
    this.onReplace(id);
    if (this.blobs.get(id) !== blob) return false;
    this.blobs.set(id, replacement);
    return true;
  }
}

async function sealedAt(version: number, count: number): Promise<ScriptedRows> {
  const rows = new ScriptedRows();
  for (let n = 0; n < count; n++) {
    const id = `p_${String(n).padStart(4, '0')}`;
    rows.blobs.set(id, await vaultAt(version).seal(new Secret(`sk-${id}`), contextOf(id)));
  }
  return rows;
}

describe('resealing', () => {
  it('more rows than one page → each is sealed with the current version, for its own row; the next run reseals none', async () => {
    const rows = await sealedAt(1, 1_201);
    expect(await resealOldSecrets(vaultAt(2), rows, NEVER)).toEqual({ resealed: 1_201, unreadable: 0 });
    for (const [id, blob] of rows.blobs) {
      expect(blob).toMatch(/^local1\.2\./);
      expect((await vaultAt(2).open(blob, contextOf(id))).reveal()).toBe(`sk-${id}`);
    }
    expect(await resealOldSecrets(vaultAt(2), rows, NEVER)).toEqual({ resealed: 0, unreadable: 0 });
  });

  it('asked to stop → stops after the current row; the next run does the rest', async () => {
    const rows = await sealedAt(1, 10);
    const stop = new AbortController();
    rows.onReplace = (id) => id === 'p_0003' && stop.abort();
    expect(await resealOldSecrets(vaultAt(2), rows, stop.signal)).toEqual({ resealed: 4, unreadable: 0 });
    expect(await resealOldSecrets(vaultAt(2), rows, NEVER)).toEqual({ resealed: 6, unreadable: 0 });
  });

  it('another key is written meanwhile → it is kept', async () => {
    const rows = await sealedAt(1, 1);
    rows.onReplace = (id) => rows.blobs.set(id, 'local1.2.theirs');
    expect(await resealOldSecrets(vaultAt(2), rows, NEVER)).toEqual({ resealed: 0, unreadable: 0 });
    expect([...rows.blobs.values()]).toEqual(['local1.2.theirs']);
  });

  it('a blob of another row → counted, unchanged, and does not stop the others', async () => {
    const rows = await sealedAt(1, 3);
    const moved = rows.blobs.get('p_0000') ?? '';
    rows.blobs.set('p_0001', moved);
    expect(await resealOldSecrets(vaultAt(2), rows, NEVER)).toEqual({ resealed: 2, unreadable: 1 });
    expect(rows.blobs.get('p_0001')).toBe(moved);
  });

  it('the vault is unavailable → ends with its error, and every row stays unchanged', async () => {
    const rows = await sealedAt(1, 2);
    const before = [...rows.blobs];
    const vault = vaultAt(2);
    vault.open = async () => Promise.reject(new VaultUnreachable('no answer'));
    await expect(resealOldSecrets(vault, rows, NEVER)).rejects.toMatchObject({ reason: 'vault_unreachable' });
    expect([...rows.blobs]).toEqual(before);
  });
});
