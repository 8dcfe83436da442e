import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { FakeClock } from '../../../test/support/clock.js';
import { Log } from '../../common/log/log.js';
import { WorkerPool, type WorkerProcess } from './worker-pool.js';

/** A process that the test controls. */
class FakeWorker extends EventEmitter implements WorkerProcess {
  readonly pid = 4711;
  exitCode: number | null = null;
  signalCode: NodeJS.Signals | null = null;
  connected = true;
  readonly heard: unknown[] = [];

  send(message: unknown): boolean {
    this.heard.push(message);
    return true;
  }

  ready(): void {
    this.emit('message', { kind: 'ready', banner: 'welcome' });
  }

  end(code: number | null, signal: NodeJS.Signals | null = null): void {
    Object.assign(this, { exitCode: code, signalCode: signal, connected: false });
    this.emit('exit', code, signal);
  }
}

let workers: FakeWorker[];
let lines: Record<string, unknown>[];
let clock: FakeClock;
let pool: WorkerPool;

beforeEach(() => {
  jest.useFakeTimers();
  workers = [];
  lines = [];
  clock = new FakeClock();
  const fork = () => {
    const worker = new FakeWorker();
    workers.push(worker);
    return worker;
  };
  pool = new WorkerPool({
    workers: 2,
    fork,
    clock,
    log: new Log(clock, 'debug', (line) => lines.push(JSON.parse(line))),
  });
});

afterEach(() => void jest.useRealTimers());

const worker = (index: number): FakeWorker => workers[index] ?? new FakeWorker();

/** Starts the pool until both workers serve. */
async function started(): Promise<void> {
  const banner = pool.start();
  worker(0).ready();
  await banner;
  worker(1).ready();
}

/** Restart delays of the pool, in milliseconds. */
const pauses = () => lines.map(({ restartInMs }) => restartInMs);

describe('WorkerPool', () => {
  it('the first worker serves → the others start', async () => {
    const banner = pool.start();
    expect(workers).toHaveLength(1);
    worker(0).emit('message', 'of somebody else');
    worker(0).ready();
    expect(await banner).toBe('welcome');
    expect(workers).toHaveLength(2);
  });

  it('the first one ends before it serves → the start fails, no further worker is started', async () => {
    const banner = pool.start();
    worker(0).end(1);
    await expect(banner).rejects.toThrow('exit code 1');
    jest.advanceTimersByTime(60_000);
    expect(workers).toHaveLength(1);
  });

  it('one that exits repeatedly → growing pauses of at most half a minute', async () => {
    await started();
    for (let death = 0; death < 12; death++) {
      workers.at(-1)?.end(null, 'SIGKILL');
      const { length } = workers;
      jest.advanceTimersByTime(Number(pauses().at(-1)) - 1);
      expect(workers).toHaveLength(length);
      jest.advanceTimersByTime(1);
      expect(workers).toHaveLength(length + 1);
    }
    expect(pauses().slice(0, 4)).toEqual([100, 200, 400, 800]);
    expect(pauses().at(-1)).toBe(30_000);
    expect(lines[0]).toMatchObject({ message: 'worker_exited', pid: 4711, exitCode: null, signal: 'SIGKILL' });
  });

  it('one that has served for a minute → replaced at once', async () => {
    await started();
    worker(1).end(1);
    jest.advanceTimersByTime(100);
    clock.advance(60_000);
    worker(2).end(1);
    expect(pauses()).toEqual([100, 100]);
  });

  it('the first worker exits after it has served → also replaced', async () => {
    await started();
    worker(0).end(1);
    jest.advanceTimersByTime(100);
    worker(2).end(1);
    jest.advanceTimersByTime(200);
    expect(workers).toHaveLength(4);
  });

  it('stopped → all are signalled and waited for; none is replaced', async () => {
    await started();
    let isOver = false;
    const stopped = pool.stop('SIGTERM').finally(() => {
      isOver = true;
    });
    expect(workers.map(({ heard }) => heard)).toEqual(Array(2).fill([{ kind: 'stop', signal: 'SIGTERM' }]));
    worker(0).end(0);
    await Promise.resolve();
    expect(isOver).toBe(false);
    worker(1).end(0);
    expect(await stopped).toBe(true);
    jest.advanceTimersByTime(60_000);
    expect(workers).toHaveLength(2);
  });

  it('one does not end cleanly → reported', async () => {
    await started();
    const stopped = pool.stop('SIGTERM');
    worker(0).end(1);
    worker(1).end(0);
    expect(await stopped).toBe(false);
  });

  it('stopped during a pause → no worker is started after it', async () => {
    await started();
    worker(1).end(1);
    const stopped = pool.stop('SIGTERM');
    worker(0).end(0);
    expect(await stopped).toBe(true);
    jest.advanceTimersByTime(60_000);
    expect(workers).toHaveLength(2);
  });
});
