import { describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { FakeClock } from '../../test/support/clock.js';
import { Secret } from '../common/log/secret.js';
import { ConfigChanges, EVERYTHING } from '../platform/database/config-changes.js';
import { BlockedUsers } from './blocked-users.js';
import { UsersRepository } from './users.repository.js';

const APP = { id: 'notes-abc123', organizationId: 'account-1' };
const OTHER_APP = { id: 'mail-abc123', organizationId: 'account-1' };

/** Blocked users in memory, by application; records look-ups, and waits or fails on demand. */
class StoredBlocks extends UsersRepository {
  readonly blocked = new Map<string, string[]>();
  readonly asked: string[] = [];
  gate: Promise<void> = Promise.resolve();
  failure: Error | undefined;

  constructor() {
    super(new DataSource({ type: 'postgres' }));
  }

  override async listBlocked(appId: string): Promise<string[]> {
    this.asked.push(appId);
    const read = [...(this.blocked.get(appId) ?? [])];
    await this.gate;
    if (this.failure) throw this.failure;
    return read;
  }
}

class SpokenChanges extends ConfigChanges {
  topic: string | undefined;
  announce: (key: string) => void = () => {};

  override subscribe(topic: string, subscriber: (key: string) => void): () => void {
    this.topic = topic;
    this.announce = subscriber;
    return () => {
      this.announce = () => {};
    };
  }
}

function setUp() {
  const clock = new FakeClock();
  const repository = new StoredBlocks();
  repository.blocked.set(APP.id, ['mallory']);
  const changes = new SpokenChanges({ url: new Secret(''), onTrouble: () => {} });
  return { clock, repository, changes, users: new BlockedUsers(repository, changes, clock) };
}

/** Waits for all pending promises that can settle. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('BlockedUsers.isBlocked', () => {
  it('application in memory → at once for every one of its users, from one query', async () => {
    const { users, repository } = setUp();
    expect(await users.isBlocked(APP, 'mallory')).toBe(true);
    expect(users.isBlocked(APP, 'mallory')).toBe(true);
    expect(users.isBlocked(APP, 'alice')).toBe(false);
    expect(repository.asked).toEqual([APP.id]);
  });

  it('application without blocked users → cached like any other', async () => {
    const { users, repository } = setUp();
    expect(await users.isBlocked(OTHER_APP, 'mallory')).toBe(false);
    expect(users.isBlocked(OTHER_APP, 'mallory')).toBe(false);
    expect(repository.asked).toEqual([OTHER_APP.id]);
  });

  it('blocked elsewhere without a notification → refused after ten seconds at the latest', async () => {
    const { users, repository, clock } = setUp();
    await users.isBlocked(APP, 'alice');
    repository.blocked.set(APP.id, ['alice']);
    clock.advance(10_000);
    const answer = users.isBlocked(APP, 'alice');
    expect(answer).toBeInstanceOf(Promise);
    expect(await answer).toBe(true);
  });

  it('age: counted from the start of the query → a slow query shortens the lifetime of its result', async () => {
    const { users, repository, clock } = setUp();
    const gate = Promise.withResolvers<void>();
    repository.gate = gate.promise;
    const answer = users.isBlocked(APP, 'alice');
    clock.advance(9_000);
    gate.resolve();
    await answer;
    clock.advance(1_000);
    expect(users.isBlocked(APP, 'alice')).toBeInstanceOf(Promise);
  });

  it('five seconds old → still used, and renewed meanwhile', async () => {
    const { users, repository, clock } = setUp();
    await users.isBlocked(APP, 'mallory');
    repository.blocked.set(APP.id, []);
    clock.advance(4_999);
    expect(users.isBlocked(APP, 'mallory')).toBe(true);
    expect(repository.asked).toHaveLength(1);
    clock.advance(1);
    expect(users.isBlocked(APP, 'mallory')).toBe(true);
    await settled();
    expect(users.isBlocked(APP, 'mallory')).toBe(false);
    expect(repository.asked).toHaveLength(2);
  });

  it('many callers at once for an uncached application → one query', async () => {
    const { users, repository } = setUp();
    const answers = Array.from({ length: 50 }, (_, caller) => users.isBlocked(APP, caller % 2 ? 'mallory' : 'alice'));
    expect((await Promise.all(answers)).filter(Boolean)).toHaveLength(25);
    expect(repository.asked).toHaveLength(1);
  });

  it.each([[APP.id], [EVERYTHING]])('change of "%s" announced → read again', async (changed) => {
    const { users, repository, changes } = setUp();
    await users.isBlocked(APP, 'mallory');
    repository.blocked.set(APP.id, []);
    changes.announce(changed);
    expect(changes.topic).toBe('blocked_users');
    expect(await users.isBlocked(APP, 'mallory')).toBe(false);
  });

  it('change of another application announced → not read again', async () => {
    const { users, repository, changes } = setUp();
    await users.isBlocked(APP, 'mallory');
    changes.announce(OTHER_APP.id);
    expect(users.isBlocked(APP, 'mallory')).toBe(true);
    expect(repository.asked).toHaveLength(1);
  });

  it('blocked here while a query is under way → its result is discarded', async () => {
    const { users, repository, changes } = setUp();
    const gate = Promise.withResolvers<void>();
    repository.gate = gate.promise;
    const before = users.isBlocked(APP, 'alice');
    repository.blocked.set(APP.id, ['alice']);
    changes.announce(APP.id);
    const after = users.isBlocked(APP, 'alice');
    gate.resolve();
    expect([await before, await after, users.isBlocked(APP, 'alice')]).toEqual([false, true, true]);
  });

  it('database unavailable → the error reaches the caller; the next call queries again', async () => {
    const { users, repository } = setUp();
    repository.failure = new Error('connection refused');
    await expect(users.isBlocked(APP, 'alice')).rejects.toBe(repository.failure);
    repository.failure = undefined;
    expect(await users.isBlocked(APP, 'alice')).toBe(false);
  });
});
