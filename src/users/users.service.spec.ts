import { describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { FakeClock } from '../../test/support/clock.js';
import type { AppRef } from '../app-directory/app.entity.js';
import type { Instant } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { StoredUser } from './app-user.entity.js';
import { UsersRepository } from './users.repository.js';
import { UsersService } from './users.service.js';

const APP = { id: 'notes-abc123', organizationId: 'account-1' };

/** Returns what the test sets; records the times of `see`. */
class ScriptedUsers extends UsersRepository {
  user: StoredUser | undefined;
  since: Instant | undefined;
  readonly seenAtMs: number[] = [];

  constructor() {
    super(new DataSource({ type: 'postgres' }));
  }

  override async see(_app: AppRef, _userId: string, at: Instant): Promise<StoredUser | undefined> {
    this.seenAtMs.push(at.getTime());
    return this.user;
  }

  override async closeClaimWindow(): Promise<Instant | undefined> {
    const { since } = this;
    this.since = undefined;
    return since;
  }
}

function setUp() {
  const clock = new FakeClock();
  const repository = new ScriptedUsers();
  return { clock, repository, users: new UsersService(repository, clock) };
}

describe('UsersService.seen', () => {
  it('a user → as stored, at the time of the clock', async () => {
    const { clock, repository, users } = setUp();
    repository.user = { id: 'alice', status: 'blocked', lastSeenAt: null, claimPendingSince: null };
    expect(await users.seen(APP, 'alice')).toBe(repository.user);
    expect(repository.seenAtMs).toEqual([clock.nowMs()]);
  });

  it('application deleted meanwhile → app_not_found', async () => {
    const { users } = setUp();
    const refusal = await users.seen(APP, 'alice').catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(GatewayError);
    expect(refusal).toMatchObject({ code: 'app_not_found', reason: 'app_deleted' });
  });
});

describe('UsersService.closeClaimWindow', () => {
  it('open for a while → its duration, once', async () => {
    const { clock, repository, users } = setUp();
    repository.since = clock.now();
    clock.advance(61_250);
    expect(await users.closeClaimWindow(APP, 'alice')).toBe(61_250);
    expect(await users.closeClaimWindow(APP, 'alice')).toBeNull();
  });

  it('opened by a machine whose clock is ahead → zero, not negative', async () => {
    const { clock, repository, users } = setUp();
    repository.since = new Date(clock.nowMs() + 5_000);
    expect(await users.closeClaimWindow(APP, 'alice')).toBe(0);
  });
});
