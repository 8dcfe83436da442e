import { describe, expect, it } from '@jest/globals';
import { Clock } from '../../common/clock.js';
import { Log } from '../../common/log/log.js';
import { SharedClock } from './shared-clock.js';

const HOUR_MS = 3_600_000;
/** Database time at the start of each test. */
const THEIRS_MS = Date.UTC(2026, 10, 30, 23, 59, 30);

/** A machine's wall clock and monotonic clock, which advance and can be set independently. */
class MachineClock extends Clock {
  wallMs = THEIRS_MS;
  monotonicNowMs = 5_000.25;

  nowMs(): number {
    return this.wallMs;
  }

  monotonicMs(): number {
    return this.monotonicNowMs;
  }

  pass(ms: number): void {
    this.wallMs += ms;
    this.monotonicNowMs += ms;
  }
}

function machine(aheadMs = 0) {
  const own = new MachineClock();
  own.wallMs += aheadMs;
  const lines: Record<string, unknown>[] = [];
  const log = new Log(own, 'debug', (line) => lines.push(JSON.parse(line)));
  const clock = new SharedClock({ own, follows: true, log });
  const jumps: number[] = [];
  clock.onJump(() => jumps.push(own.monotonicNowMs));
  /** Measures the database time with a query that takes `tookMs` in total. */
  const measure = (theirsMs: number, tookMs = 0) => {
    const asked = clock.read();
    own.pass(tookMs);
    clock.adopt(asked, theirsMs);
  };
  const told = () => lines.map(({ message, aheadMs: by }) => [message, by]);
  return { own, clock, jumps, measure, told };
}

describe('SharedClock', () => {
  it.each([0, 45_000, -HOUR_MS, 86_400_000])(
    'a machine %i ms ahead → the time of the database, which advances',
    (by) => {
      const { own, clock, measure } = machine(by);
      measure(THEIRS_MS);
      expect(clock.nowMs()).toBe(THEIRS_MS);
      own.pass(31_000);
      expect(clock.nowMs()).toBe(THEIRS_MS + 31_000);
      expect([clock.utcDay(), clock.utcMonth()]).toEqual(['2026-12-01', '2026-12']);
      expect(Math.round(clock.ownAheadMs)).toBe(by);
    },
  );

  it('not measured yet → unknown; measured → known', async () => {
    const { clock, measure } = machine();
    const known = clock.whenKnown();
    expect(known).toBeInstanceOf(Promise);
    measure(THEIRS_MS);
    await known;
    expect(clock.whenKnown()).toBeUndefined();
  });

  it('slow answers → no jitter: only impossible values are corrected', () => {
    const { own, clock, measure } = machine();
    measure(THEIRS_MS);
    const begunMs = own.monotonicNowMs;
    for (const tookMs of [3, 900, 0, 40, 1_400]) {
      const passedMs = own.monotonicNowMs - begunMs;
      // The database answers at once and the response arrives late, so its time is that of the start of the query.
      measure(THEIRS_MS + passedMs, tookMs);
      expect(clock.nowMs()).toBe(THEIRS_MS + Math.floor(own.monotonicNowMs - begunMs));
    }
  });

  it('the first answer takes a second → accurate to half a second; after a fast one → exact', () => {
    const { own, clock, measure } = machine();
    measure(THEIRS_MS, 1_000);
    expect(clock.nowMs()).toBe(THEIRS_MS + 500);
    own.pass(700);
    measure(THEIRS_MS + 1_700);
    expect(clock.nowMs()).toBe(THEIRS_MS + 1_700);
  });

  it('the database is set back by less than a minute → time stands still until the database catches up', () => {
    const { own, clock, measure } = machine();
    measure(THEIRS_MS);
    own.pass(1_000);
    clock.nowMs();
    measure(THEIRS_MS + 1_000 - 40_000);
    expect(clock.nowMs()).toBe(THEIRS_MS + 1_000);
    own.pass(39_999);
    expect(clock.nowMs()).toBe(THEIRS_MS + 1_000);
    own.pass(2);
    expect(clock.nowMs()).toBe(THEIRS_MS + 1_001);
  });

  it('the database is set back by an hour → time follows it', () => {
    const { clock, measure } = machine();
    measure(THEIRS_MS);
    clock.nowMs();
    measure(THEIRS_MS - HOUR_MS);
    expect(clock.nowMs()).toBe(THEIRS_MS - HOUR_MS);
  });

  it.each([HOUR_MS, -HOUR_MS, 600])(
    'the machine’s clock is set by %i ms → unknown, reported once, and time advances',
    (by) => {
      const { own, clock, jumps, measure } = machine();
      measure(THEIRS_MS);
      own.wallMs += by;
      expect(clock.nowMs()).toBe(THEIRS_MS);
      expect(clock.whenKnown()).toBeInstanceOf(Promise);
      expect(jumps).toHaveLength(1);
      measure(THEIRS_MS);
      expect([clock.whenKnown(), clock.nowMs()]).toEqual([undefined, THEIRS_MS]);
    },
  );

  it('the machine slept, so its monotonic clock stood still → unknown; measured again → correct', () => {
    const { own, clock, jumps, measure } = machine();
    measure(THEIRS_MS);
    own.wallMs += 20_000;
    clock.nowMs();
    expect([clock.whenKnown() instanceof Promise, jumps.length]).toEqual([true, 1]);
    measure(THEIRS_MS + 20_000);
    expect([clock.whenKnown(), clock.nowMs()]).toEqual([undefined, THEIRS_MS + 20_000]);
  });

  it('the machine slept during the query → its answer is discarded', () => {
    const { own, clock, measure } = machine();
    measure(THEIRS_MS);
    const asked = clock.read();
    own.wallMs += 20_000;
    clock.adopt(asked, THEIRS_MS);
    expect(clock.whenKnown()).toBeInstanceOf(Promise);
    measure(THEIRS_MS + 20_000);
    expect(clock.nowMs()).toBe(THEIRS_MS + 20_000);
  });

  it('more than 2 s off → one log line per change, however often it is measured', () => {
    const { own, clock, measure, told } = machine(1_900);
    const beat = () => {
      own.pass(700);
      measure(THEIRS_MS + Math.round(own.monotonicNowMs - 5_000.25));
    };
    beat();
    expect([clock.differs, told()]).toEqual([false, []]);
    own.wallMs += 200;
    for (let beats = 0; beats < 5; beats++) beat();
    expect([clock.differs, told()]).toEqual([true, [['clock_differs', 2_100]]]);
    own.wallMs -= 10_000;
    for (let beats = 0; beats < 5; beats++) beat();
    own.wallMs += 8_000;
    for (let beats = 0; beats < 5; beats++) beat();
    expect(told().slice(1)).toEqual([
      ['clock_differs', -7_900],
      ['clock_agrees', 100],
    ]);
    expect(clock.differs).toBe(false);
  });

  it('a clock that counts as the shared one → used directly, and nothing is measured', () => {
    const own = new MachineClock();
    const clock = new SharedClock({ own, follows: false, log: new Log(own, 'debug', () => undefined) });
    clock.adopt(clock.read(), THEIRS_MS + HOUR_MS);
    own.wallMs -= HOUR_MS;
    expect([clock.nowMs(), clock.whenKnown(), clock.ownAheadMs]).toEqual([THEIRS_MS - HOUR_MS, undefined, 0]);
  });
});
