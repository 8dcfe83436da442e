import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { MetricsReport } from '../metrics/metrics-report.rules.js';
import { WorkerGroup } from './worker-group.js';
import type { WorkerMessage } from './worker-messages.rules.js';
import type { WorkerProcess } from './worker-pool.js';
import { WorkersMetrics } from './workers-metrics.js';

function report(calls: number, open: number): MetricsReport {
  const about = (name: string, type: 'counter' | 'gauge') => ({ name, help: 'X.', type, labels: [] }) as const;
  return [
    { about: about('calls_total', 'counter'), bounds: [], series: [{ labels: [], numbers: [calls] }] },
    { about: about('open', 'gauge'), bounds: [], series: [{ labels: [], numbers: [open] }] },
  ];
}

const numbersOf = (of: MetricsReport | undefined) => of?.map(({ series }) => series[0]?.numbers[0]);

/** A worker with its end of the channel; each message takes a millisecond. */
class FakeWorker extends EventEmitter implements WorkerProcess {
  readonly exitCode = null;
  readonly signalCode = null;
  connected = true;
  calls = 0;
  open = 0;
  asked = 0;
  isBusy = false;
  readonly #inside = new EventEmitter();
  readonly group: WorkerGroup;

  constructor() {
    super();
    const send = (message: WorkerMessage) => setTimeout(() => this.emit('message', message), 1);
    this.group = new WorkerGroup({ on: (event, listener) => this.#inside.on(event, listener), send });
    this.group.reportFrom(() => {
      this.asked++;
      return report(this.calls, this.open);
    });
  }

  send(message: WorkerMessage): boolean {
    if (!this.isBusy) setTimeout(() => this.#inside.emit('message', message), 1);
    return true;
  }

  end(): void {
    this.connected = false;
    this.emit('exit', null, 'SIGKILL');
  }
}

let first: FakeWorker;
let second: FakeWorker;
let group: WorkersMetrics;

beforeEach(() => {
  jest.useFakeTimers();
  [first, second, group] = [new FakeWorker(), new FakeWorker(), new WorkersMetrics()];
  for (const worker of [first, second]) group.watch(worker);
  Object.assign(first, { calls: 3, open: 1 });
  Object.assign(second, { calls: 4, open: 2 });
});

afterEach(() => void jest.useRealTimers());

/** The numbers that a worker receives, and the duration in milliseconds. */
async function scraped(worker = first): Promise<[numbers: unknown, ms: number]> {
  const startedMs = performance.now();
  let answer: [unknown, number] | undefined;
  void Promise.resolve(worker.group.report()).then((told) => {
    answer = [numbersOf(told), performance.now() - startedMs];
  });
  for (let ms = 0; ms < 2_000 && answer === undefined; ms++) await jest.advanceTimersByTimeAsync(1);
  return answer ?? ['no answer', 0];
}

describe('metrics of all workers', () => {
  it('any worker is scraped → the sum of all, at once', async () => {
    expect(await scraped(first)).toEqual([[7, 3], 4]);
    expect(await scraped(second)).toEqual([[7, 3], 4]);
  });

  it('two concurrent scrapes → each worker is asked once, both are answered', async () => {
    const both = await Promise.all([scraped(first), scraped(second)]);
    expect(both.map(([numbers]) => numbers)).toEqual([
      [7, 3],
      [7, 3],
    ]);
    expect([first.asked, second.asked]).toEqual([1, 1]);
  });

  it('one is too busy → its last report after half a second; no report yet: omitted', async () => {
    second.isBusy = true;
    expect(await scraped()).toEqual([[3, 1], 502]);
    second.isBusy = false;
    await scraped();
    second.isBusy = true;
    Object.assign(first, { calls: 5 });
    expect(await scraped()).toEqual([[9, 3], 502]);
  });

  it('one has ended → its counters stay, its gauges do not; its successor is added', async () => {
    await scraped();
    second.end();
    expect(await scraped()).toEqual([[7, 1], 4]);
    const third = new FakeWorker();
    group.watch(third);
    Object.assign(third, { calls: 10, open: 5 });
    expect(await scraped()).toEqual([[17, 6], 4]);
  });

  it('one exits during a scrape → the wait ends', async () => {
    second.isBusy = true;
    setTimeout(() => second.end(), 10);
    expect(await scraped()).toEqual([[3, 1], 11]);
  });

  it('unknown messages → ignored', async () => {
    for (const message of [null, 'x', { kind: 'report', report: 1 }, { kind: 'other' }])
      second.emit('message', message);
    expect(await scraped()).toEqual([[7, 3], 4]);
  });
});

describe('a worker whose primary process does not answer', () => {
  it('→ an error after a second, and the next scrape succeeds', async () => {
    const alone = new FakeWorker();
    expect(await scraped(alone)).toEqual([undefined, 1_000]);
    group.watch(alone);
    expect(await scraped(alone)).toEqual([[7, 3], 4]);
  });
});

describe('a process that serves alone', () => {
  it('→ reports itself at once', () => {
    const alone = new WorkerGroup(undefined);
    alone.reportFrom(() => report(2, 1));
    expect(alone.report()).toEqual(report(2, 1));
  });
});
