import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { ServerKeeper } from './server-keeper.js';

let isRunning: boolean;
let restart: () => Promise<boolean>;
let told: string[];
let keeper: ServerKeeper;

beforeEach(() => {
  jest.useFakeTimers();
  isRunning = true;
  told = [];
  restart = async () => {
    isRunning = true;
    return false;
  };
  keeper = new ServerKeeper({
    directory: '/data',
    isRunning: () => isRunning,
    restart: () => restart(),
    onLost: (directory) => told.push(`lost ${directory}`),
    onRestarted: (_, adopted) => told.push(adopted ? 'adopted' : 'started'),
    onRestartFailed: (error, retryInMs) => told.push(`${error} ${retryInMs}`),
  });
});

afterEach(async () => {
  await keeper.stop();
  jest.useRealTimers();
});

it('a server that runs → nothing; that ends → started again, and said once', async () => {
  await jest.advanceTimersByTimeAsync(10_000);
  expect(told).toEqual([]);
  isRunning = false;
  await jest.advanceTimersByTimeAsync(10_000);
  expect(told).toEqual(['lost /data', 'started']);
});

it('a server that cannot be started → tried again with growing delays of up to 30 seconds', async () => {
  restart = () => Promise.reject(new Error('no'));
  await jest.advanceTimersByTimeAsync(1_000);
  isRunning = false;
  await jest.advanceTimersByTimeAsync(120_000);
  const delays = [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000];
  expect(told).toEqual(['lost /data', ...delays.map((ms) => `Error: no ${ms}`)]);
});

it('a server that ends soon after each start → growing delays too; at once again after a stable minute', async () => {
  const startsWithin = async (ms: number) => {
    told = [];
    await jest.advanceTimersByTimeAsync(ms);
    return told.filter((text) => text === 'started').length;
  };
  restart = async () => false;
  isRunning = false;
  expect(await startsWithin(60_000)).toBe(8);
  isRunning = true;
  expect(await startsWithin(120_000)).toBe(0);
  isRunning = false;
  expect(await startsWithin(1_100)).toBe(3);
});

it('stopped while it starts → waits for the start, and looks no more', async () => {
  const start = Promise.withResolvers<boolean>();
  restart = () => start.promise;
  isRunning = false;
  await jest.advanceTimersByTimeAsync(1_000);
  let isStopped = false;
  const stopping = keeper.stop().then(() => {
    isStopped = true;
  });
  await jest.advanceTimersByTimeAsync(1_000);
  expect(isStopped).toBe(false);
  start.resolve(true);
  await stopping;
  await jest.advanceTimersByTimeAsync(60_000);
  expect(told).toEqual(['adopted']);
});
