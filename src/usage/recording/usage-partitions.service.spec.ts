import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { FakeClock } from '../../../test/support/clock.js';
import { Log } from '../../common/log/log.js';
import { UsagePartitionsRepository } from './event/usage-partitions.repository.js';
import { UsagePartitions } from './usage-partitions.service.js';

const DAY_MS = 24 * 60 * 60 * 1_000;

class FakePartitions extends UsagePartitionsRepository {
  readonly made: string[] = [];
  failure: Error | undefined;

  constructor() {
    super(new DataSource({ type: 'postgres' }));
  }

  override async create(month: string): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    this.made.push(month);
  }
}

let partitions: FakePartitions;
let clock: FakeClock;
let lines: string[];
let module: INestApplicationContext;

beforeEach(async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  partitions = new FakePartitions();
  clock = new FakeClock(Date.UTC(2026, 10, 30, 23));
  lines = [];
  const service = new UsagePartitions(partitions, clock, new Log(clock, 'info', (line) => lines.push(line)));
  const providers = [{ provide: UsagePartitions, useFactory: () => service }];
  module = await Test.createTestingModule({ imports: [ScheduleModule.forRoot()], providers }).compile();
});

afterEach(async () => {
  await module.close();
  jest.useRealTimers();
});

async function passes(ms: number): Promise<void> {
  clock.advance(ms);
  await jest.advanceTimersByTimeAsync(ms);
}

describe('future partitions', () => {
  it('start, and every day after → those of the current month and the next two', async () => {
    await module.init();
    await passes(0);
    expect(partitions.made).toEqual(['2026-11', '2026-12', '2027-01']);
    await passes(DAY_MS);
    expect(partitions.made.slice(3)).toEqual(['2026-12', '2027-01', '2027-02']);
    expect(lines).toEqual([]);
  });

  it('Postgres is unavailable → logged, and retried within a minute', async () => {
    partitions.failure = new Error('away');
    await module.init();
    await passes(0);
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ message: 'usage_partitions_failed', error: 'Error: away' }),
    ]);
    partitions.failure = undefined;
    await passes(60_000);
    expect(partitions.made).toHaveLength(3);
  });

  it('stopped → no further work', async () => {
    await module.init();
    await module.close();
    await passes(2 * DAY_MS);
    expect(partitions.made).toHaveLength(3);
  });
});
