import { describe, expect, it } from '@jest/globals';
import type { ReadinessResponse } from '../dto/health.response.js';
import {
  dayOf,
  firstSlot,
  HEALTH_PARTS,
  KEPT_SLOTS,
  SLOT_MS,
  samplesOf,
  slotOf,
  sumOf,
} from './health-history.rules.js';

const NOW_MS = Date.parse('2026-03-01T12:07:30Z');
const SLOT_AT_MS = Date.parse('2026-03-01T12:00:00Z');
const READY: ReadinessResponse = {
  ...{ ready: true, reason: null, database: 'ok', vault: 'ok', journal: 'ok', configChanges: 'connected' },
  ...{ redis: 'unused', instances: 1, clock: 'ok', limits: 'ok' },
};

describe('health history', () => {
  it('slots → quarters of an hour; a day of them', () => {
    expect(slotOf(NOW_MS)).toBe(SLOT_AT_MS);
    expect([slotOf(SLOT_AT_MS), slotOf(SLOT_AT_MS - 1)]).toEqual([SLOT_AT_MS, SLOT_AT_MS - SLOT_MS]);
    expect(firstSlot(NOW_MS)).toBe(Date.parse('2026-02-28T12:15:00Z'));
  });

  it('everything works → one sample of every part, none failing', () => {
    const samples = samplesOf(READY, NOW_MS);
    expect(samples).toEqual(HEALTH_PARTS.map((part) => ({ slotAtMs: SLOT_AT_MS, part, samples: 1, failing: 0 })));
  });

  it.each([
    ['database', { database: 'unreachable' }],
    ['redis', { redis: 'lost' }],
    ['redis', { redis: 'other' }],
    ['vault', { vault: 'misconfigured' }],
    ['journal', { journal: 'full' }],
    ['configChanges', { configChanges: 'polling' }],
    ['clock', { clock: 'differs' }],
    ['limits', { limits: 'degraded' }],
  ] as const)('%s in another state → only this part fails', (part, state) => {
    const failing = samplesOf({ ...READY, ...state }, NOW_MS).filter((sample) => sample.failing > 0);
    expect(failing.map((sample) => sample.part)).toEqual([part]);
  });

  it('sums → by slot and part; samples older than a day are dropped', () => {
    const sample = (ageSlots: number, failing: number) =>
      ({ slotAtMs: SLOT_AT_MS - ageSlots * SLOT_MS, part: 'redis', samples: 1, failing }) as const;
    expect(sumOf([sample(0, 1), sample(95, 1), sample(0, 0), sample(96, 1)], NOW_MS)).toEqual([
      { slotAtMs: SLOT_AT_MS - 95 * SLOT_MS, part: 'redis', samples: 1, failing: 1 },
      { slotAtMs: SLOT_AT_MS, part: 'redis', samples: 2, failing: 1 },
    ]);
  });

  it('the day → a share for each slot with samples, null for the others', () => {
    const slot = (ageSlots: number, failing: number) =>
      ({ slotAtMs: SLOT_AT_MS - ageSlots * SLOT_MS, part: 'vault', samples: 4, failing }) as const;
    const day = dayOf([slot(0, 1), slot(1, 4), slot(95, 0), slot(96, 4), slot(-1, 4)], NOW_MS);
    expect(day.map(({ part }) => part)).toEqual(HEALTH_PARTS);
    const vault = day.find(({ part }) => part === 'vault')?.failing ?? [];
    expect(vault).toHaveLength(KEPT_SLOTS);
    expect([vault[0], vault[1], vault.at(-3), vault.at(-2), vault.at(-1)]).toEqual([0, null, null, 1, 0.25]);
  });
});
