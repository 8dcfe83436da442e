import { describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { FakeClock } from '../../../test/support/clock.js';
import { CounterReader } from '../../limits/requests/backends/counter-reader.js';
import type { LimitEpochsRepository } from '../../limits/requests/epochs/limit-epochs.repository.js';
import type { RedisConnection } from '../../platform/redis/redis-connection.js';
import type { CounterLedgerRepository } from './counter-ledger.repository.js';
import { CounterLedger } from './counter-ledger.service.js';

/** A ledger of one application with three recorded requests of today, whose counter in Redis has the given text. */
function ledgerWith(counter: string) {
  const scope = { userId: '', recorded: 3, sinceChange: 3, unheard: 0, fromBefore: 0, open: 0, unsent: 0 };
  const app = { organizationId: 'org', id: 'app', isLimited: true, areUsersLimited: false, changedAtMs: null };
  const repository: Pick<CounterLedgerRepository, 'listApps' | 'sumDay' | 'listInstances'> = {
    listApps: async () => [app],
    sumDay: async () => [{ ...scope, kept: undefined }],
    listInstances: async () => [],
  };
  const view = { epoch: 1, isOpen: true, countedIn: 'redis', openForMs: 0 };
  const epochs = { read: async () => view } as unknown as LimitEpochsRepository;
  const client = { mget: async () => [counter] } as unknown as Redis;
  const redis = { state: 'ok', run: (ask: (client: Redis) => unknown) => ask(client) } as unknown as RedisConnection;
  const clock = new FakeClock(Date.UTC(2030, 0, 15, 12));
  const options = { clock, journals: '/nonexistent', settleMs: 0 };
  return new CounterLedger(repository as CounterLedgerRepository, new CounterReader(epochs, redis), options);
}

describe('ledger of request counters', () => {
  it('the counter equals the recorded requests → no finding', async () => {
    expect(await ledgerWith('3').verify()).toEqual({ countedIn: 'redis', findings: [], unproven: [] });
  });

  it.each(['three', '3x', '', '3.5', '0x3', '99999999999999999999'])(
    'the counter is %j, which is not a count → a finding with its text',
    async (stored) => {
      const { findings } = await ledgerWith(stored).verify();
      expect(findings).toEqual([expect.objectContaining({ table: 'request_counters', stored, recomputed: '3' })]);
    },
  );
});
