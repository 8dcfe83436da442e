import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '../../../../test/support/clock.js';
import { Log } from '../../../common/log/log.js';
import { EpochLog } from './epoch-agreement.service.js';
import type { EpochReason } from './epoch-machine.js';
import type { EpochView } from './limit-epochs.repository.js';

const clock = new FakeClock(0);

function opened() {
  const lines: unknown[] = [];
  const log = new EpochLog(new Log(clock, 'info', (line) => lines.push(JSON.parse(line).message)), clock);
  return { log, lines };
}

function viewOf(epoch: number, countedIn: 'redis' | 'instances', reason: EpochReason): EpochView {
  const state = { isOpen: true, members: ['one'], openForMs: 0, enteredEpoch: epoch, leaseLeftMs: 3_000 };
  return { ...state, epoch, countedIn, reason, deployment: 'd', minutesUnknownForMs: undefined };
}

describe('epoch log', () => {
  it.each(['redis_forgot', 'instance_returned'] as const)(
    'the epoch found at the start began because of %s → no line; the next time → a line',
    (reason) => {
      const { log, lines } = opened();
      log.countsIn(viewOf(7, 'redis', reason));
      expect(lines).toEqual([]);
      log.countsIn(viewOf(7, 'redis', reason));
      expect(lines).toEqual([]);
      log.countsIn(viewOf(8, 'redis', reason));
      expect(lines).toEqual(['limits_recounted']);
    },
  );

  it('a start finds requests counted without Redis → a line that says so', () => {
    const { log, lines } = opened();
    log.countsIn(viewOf(7, 'instances', 'redis_lost'));
    log.countsIn(viewOf(8, 'redis', 'redis_back'));
    expect(lines).toEqual(['limits_degraded', 'limits_restored']);
  });
});
