import { describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { Clock } from '../../common/clock.js';
import type { ReadinessResponse } from '../dto/health.response.js';
import type { ReadinessService } from '../readiness.service.js';
import type { HealthSlot } from './health-history.rules.js';
import { HealthHistory } from './health-history.service.js';
import { HealthSlotsRepository } from './health-slots.repository.js';

const START_MS = Date.parse('2026-03-01T12:00:00Z');

class ManualClock extends Clock {
  atMs = START_MS;

  nowMs(): number {
    return this.atMs;
  }

  monotonicMs(): number {
    return this.atMs;
  }
}

class WrittenSlots extends HealthSlotsRepository {
  readonly written: HealthSlot[][] = [];
  isBroken = false;

  constructor() {
    super(new DataSource({ type: 'postgres' }));
  }

  override async add(slots: readonly HealthSlot[]): Promise<void> {
    if (this.isBroken) throw new Error('connection refused');
    this.written.push([...slots]);
  }
}

function setUp() {
  const clock = new ManualClock();
  const slots = new WrittenSlots();
  const state: { database: ReadinessResponse['database'] } = { database: 'ok' };
  const readiness: Pick<ReadinessService, 'check'> = {
    check: async () => ({
      ...{ ready: true, reason: null, vault: 'ok', journal: 'ok', configChanges: 'connected', redis: 'unused' },
      ...{ instances: 1, clock: 'ok', limits: 'ok', ...state },
    }),
  };
  const ofDatabase = () => slots.written.flat().filter(({ part }) => part === 'database');
  return { clock, slots, state, ofDatabase, history: new HealthHistory(readiness as ReadinessService, slots, clock) };
}

describe('HealthHistory', () => {
  it('an outage of the database → its samples are written once it is back', async () => {
    const { clock, slots, state, history, ofDatabase } = setUp();
    state.database = 'unreachable';
    for (let minute = 0; minute < 3; minute++) {
      await history.sample();
      clock.atMs += 60_000;
    }
    expect(slots.written).toEqual([]);
    state.database = 'ok';
    await history.sample();
    expect(ofDatabase()).toEqual([{ slotAtMs: START_MS, part: 'database', samples: 4, failing: 3 }]);
    await history.sample();
    expect(slots.written[1]).toEqual(expect.arrayContaining([expect.objectContaining({ samples: 1 })]));
  });

  it('a write that fails → written with the next sample', async () => {
    const { slots, history, ofDatabase } = setUp();
    slots.isBroken = true;
    await history.sample();
    slots.isBroken = false;
    await history.sample();
    expect(ofDatabase()).toEqual([{ slotAtMs: START_MS, part: 'database', samples: 2, failing: 0 }]);
  });

  it('an outage of a week → at most one day of samples is kept', async () => {
    const { clock, state, history, slots } = setUp();
    state.database = 'unreachable';
    for (let quarter = 0; quarter < 7 * 96; quarter++) {
      await history.sample();
      clock.atMs += 15 * 60_000;
    }
    state.database = 'ok';
    await history.sample();
    expect(slots.written.flat()).toHaveLength(96 * 7);
  });
});
