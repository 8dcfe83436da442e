import { Clock } from '../../src/common/clock.js';
import { Log } from '../../src/common/log/log.js';
import { SharedClock } from '../../src/platform/clock/shared-clock.js';

/** A clock that moves only when told to; starts now, so that certificates and tokens made by others are in force. */
export class FakeClock extends Clock {
  private elapsedMs = 0;

  constructor(private readonly startMs = Date.now()) {
    super();
  }

  nowMs(): number {
    return this.startMs + this.elapsedMs;
  }

  monotonicMs(): number {
    return this.elapsedMs;
  }

  advance(ms: number): void {
    this.elapsedMs += ms;
  }
}

/** The time of all instances, told by this clock. */
export function sharedClockOf(own: Clock): SharedClock {
  return new SharedClock({ own, follows: false, log: new Log(own, 'error', () => undefined) });
}
