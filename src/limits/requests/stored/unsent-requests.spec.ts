import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '../../../../test/support/clock.js';
import { aCall } from '../../../../test/support/limits/requests/limited-calls.js';
import type { StoredCountsRepository, UnsentCount } from './stored-counts.repository.js';
import { UnsentRequests } from './unsent-requests.service.js';

const NOON = Date.UTC(2030, 0, 15, 12);
const DAY = { perDay: 5 };

/** Notes with an in-memory repository, which fails while `isAway`. */
function notes() {
  const stored: unknown[] = [];
  const database = { isAway: false };
  const repository: Pick<StoredCountsRepository, 'addUnsent' | 'pruneUnsent'> = {
    async addUnsent(counts: readonly UnsentCount[]) {
      if (database.isAway) throw new Error('away');
      stored.push(...counts.map(({ appId, userId, day, requests }) => `${appId} ${userId} ${day} ${requests}`));
    },
    pruneUnsent: async () => undefined,
  };
  const clock = new FakeClock(NOON);
  return { clock, database, stored, unsent: new UnsentRequests(repository as StoredCountsRepository, clock) };
}

describe('requests that were counted but never sent', () => {
  it('recorded repeatedly → one row for each scope with daily counts', async () => {
    const { unsent, stored } = notes();
    for (let call = 0; call < 3; call++) unsent.note(aCall('app', 'ann', { user: DAY, app: DAY }));
    unsent.note(aCall('app', 'ben', { user: { perMinute: 1 }, app: DAY }));
    unsent.note(aCall('app', null, { user: DAY }));
    await unsent.flush();
    await unsent.flush();
    expect(stored).toEqual(['app  2030-01-15 4', 'app ann 2030-01-15 3']);
  });

  it('Postgres is unavailable → kept together with later ones, and stored once', async () => {
    const { clock, unsent, stored, database } = notes();
    database.isAway = true;
    unsent.note(aCall('app', null, { app: DAY }));
    await unsent.flush();
    unsent.note(aCall('app', null, { app: DAY }));
    clock.advance(12 * 60 * 60_000);
    unsent.note(aCall('app', null, { app: DAY }));
    database.isAway = false;
    await unsent.flush();
    await unsent.flush();
    expect(stored).toEqual(['app  2030-01-15 2', 'app  2030-01-16 1']);
  });

  it('from more users than are kept → those that are kept are stored', async () => {
    const { unsent, stored } = notes();
    for (let user = 0; user < 10_050; user++) unsent.note(aCall('app', `user-${user}`, { user: DAY }));
    await unsent.flush();
    expect(stored).toHaveLength(10_000);
  });
});
