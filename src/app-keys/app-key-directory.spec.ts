import { describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { Clock } from '../common/clock.js';
import { Log } from '../common/log/log.js';
import { Secret } from '../common/log/secret.js';
import { ConfigChanges, EVERYTHING } from '../platform/database/config-changes.js';
import { hashAppKey } from './app-key.rules.js';
import { AppKeyDirectory, appKeyChanges } from './app-key-directory.js';
import { AppKeyUses } from './app-key-uses.js';
import { AppKeysRepository, type StoredAppKey } from './app-keys.repository.js';

const PLAINTEXT = `gw_${'k'.repeat(48)}`;
const HASH = hashAppKey(PLAINTEXT);
const START_MS = 1_790_000_000_000;
const HOUR_MS = 3_600_000;
const KEY_ID = `key_${'k'.repeat(20)}`;

class ManualClock extends Clock {
  atMs = START_MS;

  nowMs(): number {
    return this.atMs;
  }

  monotonicMs(): number {
    return this.atMs;
  }
}

/** The table in memory, by hash; records look-ups and writes. */
class StoredKeys extends AppKeysRepository {
  readonly rows = new Map<string, StoredAppKey>();
  readonly asked: string[] = [];
  readonly marked: { keyIds: readonly string[]; atMs: number; staleMs: number }[] = [];
  failure: Error | undefined;

  constructor() {
    super(new DataSource({ type: 'postgres' }));
  }

  override async findByHash(keyHash: string): Promise<StoredAppKey | undefined> {
    this.asked.push(keyHash);
    return this.rows.get(keyHash);
  }

  override async findById(keyId: string): Promise<StoredAppKey | undefined> {
    this.asked.push(keyId);
    return [...this.rows.values()].find((key) => key.id === keyId);
  }

  override async markUsed(keyIds: readonly string[], at: { getTime(): number }, staleMs: number): Promise<void> {
    if (this.failure) throw this.failure;
    this.marked.push({ keyIds, atMs: at.getTime(), staleMs });
  }
}

class SpokenChanges extends ConfigChanges {
  readonly announce = (key: string) => this.applyHere({ topic: 'app_keys', key });
}

function setUp(stored: Partial<StoredAppKey> = {}) {
  const clock = new ManualClock();
  const repository = new StoredKeys();
  const key = { id: KEY_ID, appId: 'notes-abc123', organizationId: 'account-1', status: 'active' } as const;
  repository.rows.set(HASH, { ...key, expiresAt: null, lastUsedAt: null, ...stored });
  const lines: Record<string, unknown>[] = [];
  const uses = new AppKeyUses(repository, clock, new Log(clock, 'debug', (line) => lines.push(JSON.parse(line))));
  const changes = new SpokenChanges({ url: new Secret(''), onTrouble: () => {} });
  const directory = new AppKeyDirectory(repository, uses, changes, clock);
  return { clock, repository, lines, uses, changes, keys: directory };
}

describe('AppKeyDirectory.find', () => {
  it('known key → from the cache the second time; only its hash is queried', async () => {
    const { keys, repository } = setUp();
    const key = await keys.find(PLAINTEXT);
    expect(key).toEqual({ id: KEY_ID, appId: 'notes-abc123', organizationId: 'account-1', status: 'active' });
    expect(keys.find(PLAINTEXT)).toBe(key);
    expect(repository.asked).toEqual([HASH]);
  });

  it('text that cannot be a key → undefined without a query', () => {
    const { keys, repository } = setUp();
    expect(keys.find(`gw_mgmt_${'a'.repeat(48)}`)).toBeUndefined();
    expect(repository.asked).toEqual([]);
  });

  it('unknown key → cached as missing for ten seconds', async () => {
    const { keys, repository, clock } = setUp();
    const unknown = PLAINTEXT.replace('kk', 'KK');
    expect(await keys.find(unknown)).toBeUndefined();
    clock.atMs += 9_999;
    expect(keys.find(unknown)).toBeUndefined();
    clock.atMs += 1;
    await keys.find(unknown);
    expect(repository.asked).toHaveLength(2);
  });

  it('revoked elsewhere without a notification → refused within a minute', async () => {
    const { keys, repository, clock } = setUp();
    const active = await keys.find(PLAINTEXT);
    if (active) repository.rows.set(HASH, { ...active, status: 'revoked', expiresAt: null, lastUsedAt: null });
    clock.atMs += 60_000;
    expect(await keys.find(PLAINTEXT)).toMatchObject({ status: 'revoked' });
  });

  it.each([[HASH], [EVERYTHING]])('change of "%s" announced → read again', async (changed) => {
    const { keys, repository, changes } = setUp();
    await keys.find(PLAINTEXT);
    changes.announce(changed);
    await keys.find(PLAINTEXT);
    expect(repository.asked).toHaveLength(2);
  });
});

describe('AppKeyDirectory.findById', () => {
  it('known key → from the cache the second time, by id', async () => {
    const { keys, repository } = setUp();
    const key = await keys.findById(KEY_ID);
    expect(key).toMatchObject({ id: KEY_ID, appId: 'notes-abc123', status: 'active' });
    expect(keys.findById(KEY_ID)).toBe(key);
    expect(repository.asked).toEqual([KEY_ID]);
  });

  it.each(['', 'key_', `key_${'K'.repeat(20)}`, HASH, PLAINTEXT])('%.10j, not a key id → no query', (keyId) => {
    const { keys, repository } = setUp();
    expect(keys.findById(keyId)).toBeUndefined();
    expect(repository.asked).toEqual([]);
  });

  it('unknown → cached as missing for ten seconds; revoked without a notification → refused within a minute', async () => {
    const { keys, repository, clock } = setUp({ id: 'another' });
    expect(await keys.findById(KEY_ID)).toBeUndefined();
    const stored = { id: KEY_ID, appId: 'a', organizationId: 'o', expiresAt: null, lastUsedAt: null };
    repository.rows.set(HASH, { ...stored, status: 'active' });
    clock.atMs += 9_999;
    expect(keys.findById(KEY_ID)).toBeUndefined();
    clock.atMs += 1;
    expect(await keys.findById(KEY_ID)).toMatchObject({ status: 'active' });
    repository.rows.set(HASH, { ...stored, status: 'revoked' });
    clock.atMs += 60_000;
    expect(await keys.findById(KEY_ID)).toMatchObject({ status: 'revoked' });
  });

  it.each([[KEY_ID], [EVERYTHING]])('change of "%s" announced → read again', async (changed) => {
    const { keys, repository, changes } = setUp();
    await keys.findById(KEY_ID);
    changes.announce(changed);
    await keys.findById(KEY_ID);
    expect(repository.asked).toHaveLength(2);
  });
});

describe('a key with an expiry', () => {
  const LOOKUPS: readonly [string, (keys: AppKeyDirectory) => unknown][] = [
    ['find', (keys) => keys.find(PLAINTEXT)],
    ['findById', (keys) => keys.findById(KEY_ID)],
    ['findStored', (keys) => keys.findStored(PLAINTEXT)],
  ];

  it.each(LOOKUPS)(
    '%s, cached before → expired from that millisecond on, without a query or a recorded use',
    async (_n, look) => {
      const { keys, repository, uses, clock } = setUp({ expiresAt: new Date(START_MS + 5_000) });
      expect(await look(keys)).toMatchObject({ status: 'active' });
      await uses.flush();
      clock.atMs = START_MS + 4_999;
      expect(await look(keys)).toMatchObject({ status: 'active' });
      await uses.flush();
      repository.marked.length = 0;
      clock.atMs++;
      expect(await look(keys)).toMatchObject({ id: KEY_ID, status: 'expired' });
      await uses.flush();
      expect(repository.marked).toEqual([]);
    },
  );
});

describe('AppKeyDirectory.findStored', () => {
  it('a key cached in another state → always as stored', async () => {
    const { keys, repository } = setUp();
    const known = await keys.find(PLAINTEXT);
    if (known) repository.rows.set(HASH, { ...known, status: 'revoked', expiresAt: null, lastUsedAt: null });
    expect(await keys.findStored(PLAINTEXT)).toMatchObject({ status: 'revoked' });
    await keys.findStored(PLAINTEXT);
    expect(repository.asked).toHaveLength(3);
  });

  it('text that cannot be a key → undefined without a query', async () => {
    const { keys, repository } = setUp();
    expect(await keys.findStored('gw_nonsense')).toBeUndefined();
    expect(repository.asked).toEqual([]);
  });
});

describe('a revoked key', () => {
  it('announced → read again by hash and by id, once each', async () => {
    const { keys, repository, changes } = setUp();
    await Promise.all([keys.find(PLAINTEXT), keys.findById(KEY_ID)]);
    const changed = appKeyChanges({ id: KEY_ID, hash: HASH });
    expect(changed).toEqual([
      { topic: 'app_keys', key: HASH },
      { topic: 'app_keys', key: KEY_ID },
    ]);
    for (const change of changed) changes.applyHere(change);
    await Promise.all([keys.find(PLAINTEXT), keys.findById(KEY_ID)]);
    expect(repository.asked).toEqual([HASH, KEY_ID, HASH, KEY_ID]);
  });
});

describe('use of a key', () => {
  it.each<[string, (keys: AppKeyDirectory) => unknown]>([
    ['named by a token', (keys) => keys.findById(KEY_ID)],
    ['exchanged for a token', (keys) => keys.findStored(PLAINTEXT)],
  ])('%s → counts like use of a presented key', async (_name, use) => {
    const { keys, repository, uses } = setUp();
    await use(keys);
    await uses.flush();
    expect(repository.marked).toMatchObject([{ keyIds: [KEY_ID] }]);
  });

  it('many uses within an hour → written once, later', async () => {
    const { keys, repository, uses, clock } = setUp();
    for (let minute = 0; minute < 59; minute++) {
      await keys.find(PLAINTEXT);
      clock.atMs += 60_000;
    }
    expect(repository.marked).toEqual([]);
    await uses.flush();
    await uses.flush();
    expect(repository.marked).toEqual([{ keyIds: [KEY_ID], atMs: clock.atMs, staleMs: HOUR_MS }]);
  });

  it('stored use an hour old → written again; more recent → not', async () => {
    const { keys, repository, uses, clock } = setUp({ lastUsedAt: new Date(START_MS) });
    clock.atMs = START_MS + HOUR_MS - 1;
    await keys.find(PLAINTEXT);
    await uses.flush();
    expect(repository.marked).toEqual([]);
    clock.atMs++;
    await keys.find(PLAINTEXT);
    await uses.flush();
    expect(repository.marked).toHaveLength(1);
  });

  it('revoked or unknown key → no recorded use', async () => {
    const { keys, repository, uses } = setUp({ status: 'revoked' });
    await keys.find(PLAINTEXT);
    await keys.find(PLAINTEXT.replace('kk', 'KK'));
    await uses.flush();
    expect(repository.marked).toEqual([]);
  });

  it('shutdown → pending uses are written', async () => {
    const { keys, repository, uses } = setUp();
    await keys.find(PLAINTEXT);
    await uses.beforeApplicationShutdown();
    expect(repository.marked).toHaveLength(1);
  });

  it('database unavailable → one log line, and the call succeeds', async () => {
    const { keys, repository, uses, lines } = setUp();
    repository.failure = new Error('connection refused');
    await keys.find(PLAINTEXT);
    await expect(uses.flush()).resolves.toBeUndefined();
    expect(lines).toEqual([
      expect.objectContaining({ message: 'app_key_use_write_failed', keys: 1, error: 'connection refused' }),
    ]);
  });
});
