import { describe, expect, it } from '@jest/globals';
import { FakeClock, sharedClockOf } from '../../../test/support/clock.js';
import type { AppDirectoryService } from '../../app-directory/app-directory.service.js';
import { Log } from '../../common/log/log.js';
import { loadEnvironment } from '../../platform/config/environment.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { StreamStore } from './stream-store.js';

const MIB = 1_048_576;
const KIB = 1_024;

function setUp() {
  const clock = new FakeClock();
  const lines: Record<string, unknown>[] = [];
  const metrics = new Metrics();
  let isOn = true;
  const apps: Partial<AppDirectoryService> = {
    // biome-ignore lint/suspicious/noExplicitAny: the store reads two members
    find: () => ({ configError: null, streamsOf: () => (isOn ? {} : undefined) }) as any,
  };
  const store = new StreamStore(
    apps as AppDirectoryService,
    sharedClockOf(clock),
    new Log(clock, 'info', (line) => lines.push(JSON.parse(line))),
    metrics,
    loadEnvironment({ STREAM_STORE_BYTES: String(MIB) }),
  );
  const begin = (name: string, { kib = 0, resumeSeconds = 60 } = {}) => {
    const facts = { id: `st_${name}`, mark: name, appId: 'app', endpointSlug: null, status: 200, contentType: '' };
    const stream = store.begin({ ...facts, maxBytes: 4 * MIB, resumeSeconds });
    for (let at = 0; at < kib; at++) stream.append(Buffer.alloc(KIB));
    return stream;
  };
  const turnOff = () => {
    isOn = false;
  };
  return { clock, lines, metrics, store, begin, turnOff };
}

describe('StreamStore', () => {
  it('no room → the answer that ended first is dropped, then the next; live ones come last', () => {
    const { store, begin, metrics } = setUp();
    const [live, first, second] = [
      begin('live', { kib: 100 }),
      begin('first', { kib: 300 }),
      begin('second', { kib: 300 }),
    ];
    second.end('complete', true);
    first.end('complete', true);
    const more = begin('more', { kib: 500 });
    expect(['second', 'first', 'live', 'more'].map((mark) => store.find(mark)?.state)).toEqual([
      undefined,
      'complete',
      'live',
      'live',
    ]);
    begin('last', { kib: 900 });
    expect([store.find('first'), live.state, more.state]).toEqual([undefined, 'lost', 'lost']);
    expect(store.find('last')?.state).toBe('live');
    expect(metrics.streamsEvicted.of().value).toBe(4);
  });

  it('an answer that is too large by itself → lost, and its memory is free again', () => {
    const { store, begin, metrics } = setUp();
    expect(begin('large', { kib: 2_000 }).state).toBe('lost');
    expect([store.find('large'), metrics.streamBytes.read(), metrics.streamsKept.read()]).toEqual([undefined, 0, 0]);
  });

  it('2 000 answers, one after the other → memory stays within the bound, and each is dropped when it expires', () => {
    const { clock, store, begin, metrics } = setUp();
    for (let at = 0; at < 2_000; at++) {
      begin(`${at}`, { kib: 3 }).end('complete', true);
      expect(metrics.streamBytes.read()).toBeLessThanOrEqual(MIB);
    }
    expect(metrics.streamsKept.read()).toBeGreaterThan(300);
    clock.advance(59_999);
    store.sweep();
    expect(store.find('1999')?.state).toBe('complete');
    clock.advance(1);
    expect(store.find('1999')).toBeUndefined();
    store.sweep();
    expect([metrics.streamBytes.read(), metrics.streamsKept.read()]).toEqual([0, 0]);
  });

  it('a live one → does not expire; streams are turned off → dropped at the next sweep', () => {
    const { clock, store, begin, turnOff } = setUp();
    const stream = begin('live', { kib: 1 });
    clock.advance(3_600_000);
    store.sweep();
    expect(store.find('live')).toBe(stream);
    turnOff();
    store.sweep();
    expect([store.find('live'), stream.state]).toEqual([undefined, 'lost']);
  });

  it('dropped for room → one log line per minute', () => {
    const { clock, lines, store, begin } = setUp();
    const drop = () => begin(`${lines.length} ${clock.monotonicMs()}`, { kib: 2_000 });
    for (let second = 0; second < 61; second++) {
      drop();
      clock.advance(1_000);
      store.sweep();
    }
    expect(lines.map(({ message, streams }) => [message, streams])).toEqual([
      ['streams_evicted', 1],
      ['streams_evicted', 60],
    ]);
  });
});
