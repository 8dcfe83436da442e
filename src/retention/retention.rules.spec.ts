import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { believedNow, oldPartitions, passesNightlyTime, retentionDays } from './retention.rules.js';

const at = (instant: string) => Date.parse(instant);
const DAY_MS = 24 * 60 * 60 * 1000;

describe('what is kept', () => {
  it.each([
    ['2026-11-20', '2026-08-22', '2025-10-01'],
    ['2026-03-01', '2025-12-01', '2025-01-01'],
    // The 400th day before is the first of its month: the whole month before it is older.
    ['2026-02-05', '2025-11-07', '2025-01-01'],
    ['2026-02-04', '2025-11-06', '2024-12-01'],
    ['2024-05-30', '2024-03-01', '2023-04-01'],
  ])('on %s → events of %s and later, days of %s and later', (today, events, dayTotals) => {
    const { dayTotals: first, webhookEvents, ...others } = retentionDays(believedNow(at(today), at(today)));
    expect([first, at(today) - at(webhookEvents)]).toEqual([dayTotals, 30 * DAY_MS]);
    expect(new Set(Object.values(others))).toEqual(new Set([events]));
    expect(Object.keys(others)).toContain('authEvents');
  });

  it('two clocks disagree → the earlier day counts, whichever clock has it', () => {
    const expected = retentionDays(believedNow(at('2026-11-20'), at('2026-11-20')));
    expect(retentionDays(believedNow(at('2026-11-20T23:59:59.999Z'), at('2038-01-19')))).toEqual(expected);
    expect(retentionDays(believedNow(at('2038-01-19'), at('2026-11-20')))).toEqual(expected);
  });
});

describe('03:17 UTC', () => {
  it.each([
    ['a moment before', '2026-11-20T03:16:40Z', '2026-11-20T03:16:59.999Z', false],
    ['exactly then', '2026-11-20T03:16:59.999Z', '2026-11-20T03:17:00Z', true],
    ['looked at twice then', '2026-11-20T03:17:00Z', '2026-11-20T03:17:20Z', false],
    ['midnight', '2026-11-19T23:59:50Z', '2026-11-20T00:00:10Z', false],
    ['a machine that slept over it', '2026-11-19T22:00:00Z', '2026-11-20T08:00:00Z', true],
    ['a clock set forward by days', '2026-11-19T22:00:00Z', '2026-11-25T01:00:00Z', true],
    ['a clock set forward, not over it', '2026-11-19T04:00:00Z', '2026-11-20T03:00:00Z', false],
    ['a clock set back over it', '2026-11-20T03:20:00Z', '2026-11-20T01:00:00Z', false],
    ['a clock that was set back gets there again', '2026-11-20T03:16:50Z', '2026-11-20T03:17:10Z', true],
    ['a clock set back by years', '2038-01-19T03:20:00Z', '2026-11-20T03:20:00Z', false],
  ])('%s → %s to %s: %s', (_name, from, to, expected) => {
    expect(passesNightlyTime(at(from), at(to))).toBe(expected);
  });

  it('checks at any intervals over any number of days → due once for each 03:17 if no two checks are a day apart', () => {
    const paces = fc.array(fc.integer({ min: 1, max: DAY_MS - 1 }), { maxLength: 60 });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 50 * DAY_MS }), paces, (startMs, steps) => {
        let [nowMs, begun] = [startMs, 0];
        for (const step of steps) {
          if (passesNightlyTime(nowMs, nowMs + step)) begun++;
          nowMs += step;
        }
        let expected = 0;
        for (let night = at('1970-01-01T03:17:00Z'); night <= nowMs; night += DAY_MS) if (night > startMs) expected++;
        expect(begun).toBe(expected);
      }),
    );
  });
});

describe('partitions that are entirely expired', () => {
  it.each([
    ['2026-01-31', []],
    ['2026-02-01', ['usage_events_2026_01']],
    ['2026-02-28', ['usage_events_2026_01']],
    ['2026-03-01', ['usage_events_2026_01', 'usage_events_2026_02']],
  ])('events before %s expire → %j', (before, old) => {
    expect(oldPartitions(['usage_events_2026_01', 'usage_events_2026_02', 'usage_events_2026_03'], before)).toEqual(
      old,
    );
  });

  it('December → ends with the year', () => {
    expect(oldPartitions(['usage_events_2025_12'], '2025-12-31')).toEqual([]);
    expect(oldPartitions(['usage_events_2025_12'], '2026-01-01')).toEqual(['usage_events_2025_12']);
  });

  it('any other table → kept, however old its name looks', () => {
    const others = [
      'usage_events_default',
      'usage_events_2026_01_old',
      'x_usage_events_2026_01',
      'usage_events_2026_1',
    ];
    expect(oldPartitions(others, '2030-01-01')).toEqual([]);
  });
});
