import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { FakeClock } from '../../../test/support/clock.js';
import { Log } from '../../common/log/log.js';
import type { Span } from './span.js';
import { SpanBatch, type SpanCollector, SpansRefused } from './span-batch.js';

const MINUTE_MS = 60_000;

/** A collector that handles the first batches as scripted and accepts all later ones. */
class ScriptedCollector implements SpanCollector {
  readonly batches: string[][] = [];
  script: (() => Promise<number>)[] = [];

  async deliver(spans: readonly Span[]): Promise<number> {
    this.batches.push(spans.map(({ name }) => name));
    return (await this.script.shift()?.()) ?? 0;
  }
}

const fail = () => Promise.reject(new Error('away'));
const refuse = () => Promise.reject(new SpansRefused('status 400'));
const never = () => new Promise<number>(() => undefined);

describe('SpanBatch', () => {
  let clock: FakeClock;
  let collector: ScriptedCollector;
  let lines: Record<string, unknown>[];
  let counts: { exported: number; lost: number };
  let batch: SpanBatch;
  let added: number;

  beforeEach(() => {
    jest.useFakeTimers();
    clock = new FakeClock();
    collector = new ScriptedCollector();
    lines = [];
    counts = { exported: 0, lost: 0 };
    added = 0;
    batch = new SpanBatch({
      collector,
      clock,
      log: new Log(clock, 'debug', (line) => lines.push(JSON.parse(line))),
      counts: {
        exported: (spans) => {
          counts.exported += spans;
        },
        lost: (spans) => {
          counts.lost += spans;
        },
      },
    });
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  function add(count: number): void {
    for (let n = 0; n < count; n++) {
      batch.add({
        ...{ traceId: 'a', spanId: 'b', parentSpanId: undefined, kind: 'client', startedMs: 1, endedMs: 2 },
        ...{ name: String(added++), isFailed: false, attributes: {} },
      });
    }
  }

  it('a few spans → one batch, a second later', async () => {
    add(3);
    await jest.advanceTimersByTimeAsync(999);
    expect(collector.batches).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect([collector.batches, counts]).toEqual([[['0', '1', '2']], { exported: 3, lost: 0 }]);
  });

  it('512 spans → sent at once; later ones wait for their turn', async () => {
    let take: (refused: number) => void = () => undefined;
    collector.script = [() => new Promise((resolve) => (take = resolve))];
    add(512 + 600);
    expect(collector.batches.map((batch) => batch.length)).toEqual([512]);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(collector.batches.length).toBe(1);
    take(0);
    await jest.advanceTimersByTimeAsync(0);
    expect(collector.batches.map((batch) => batch.length)).toEqual([512, 512]);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(collector.batches.map((batch) => batch.length)).toEqual([512, 512, 88]);
    expect(collector.batches.flat()).toEqual(Array.from({ length: 1_112 }, (_, n) => String(n)));
  });

  it('collector unavailable → retried with growing pauses, in order, nothing lost, one log line', async () => {
    collector.script = [fail, fail, fail];
    add(2);
    await jest.advanceTimersByTimeAsync(1_000 + 1_000 + 2_000 - 1);
    expect(collector.batches.length).toBe(2);
    add(1);
    await jest.advanceTimersByTimeAsync(1 + 4_000);
    expect(collector.batches.slice(-2)).toEqual([
      ['0', '1', '2'],
      ['0', '1', '2'],
    ]);
    expect(counts).toEqual({ exported: 3, lost: 0 });
    expect(lines).toMatchObject([{ message: 'traces_export_failed', level: 'warn', lost: 0, error: 'away' }]);
  });

  it('more than 8 192 waiting → new ones are lost and counted; one log line per minute', async () => {
    collector.script = [fail];
    add(1);
    await jest.advanceTimersByTimeAsync(1_000);
    add(8_192 + 4);
    expect(counts.lost).toBe(5);
    expect(lines.length).toBe(1);
    clock.advance(MINUTE_MS);
    add(1);
    expect(lines.at(-1)).toMatchObject({ lost: 6, error: 'too many spans wait' });
    await jest.advanceTimersByTimeAsync(60_000);
    expect(counts).toEqual({ exported: 8_192, lost: 6 });
  });

  it('batch that the collector rejects → lost, and the next one is sent at its usual time', async () => {
    collector.script = [refuse];
    add(2);
    await jest.advanceTimersByTimeAsync(1_000);
    add(1);
    await jest.advanceTimersByTimeAsync(1_000);
    expect([collector.batches, counts]).toEqual([[['0', '1'], ['2']], { exported: 1, lost: 2 }]);
    expect(lines).toMatchObject([{ lost: 2, error: 'status 400' }]);
  });

  it('single spans rejected → counted as lost', async () => {
    collector.script = [() => Promise.resolve(2)];
    add(3);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(counts).toEqual({ exported: 1, lost: 2 });
  });

  it('close → all waiting spans are sent, in batches', async () => {
    add(500);
    await batch.close(2_000);
    expect([collector.batches.length, counts]).toEqual([1, { exported: 500, lost: 0 }]);
    expect(lines).toEqual([]);
  });

  it('close while the collector is unavailable → each batch is tried once, then lost and reported', async () => {
    collector.script = [fail, fail, fail];
    add(2);
    await batch.close(2_000);
    expect([collector.batches.length, counts]).toEqual([1, { exported: 0, lost: 2 }]);
    expect(lines.at(-1)).toMatchObject({ lost: 2, error: 'the process ends' });
  });

  it('close while the collector does not answer → ends in time', async () => {
    collector.script = [never];
    add(512 + 3);
    const closed = batch.close(2_000);
    await jest.advanceTimersByTimeAsync(2_000);
    await closed;
    expect(counts).toEqual({ exported: 0, lost: 3 });
  });
});
