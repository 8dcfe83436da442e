import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import { EventLoopDelay } from './event-loop-delay.js';

const BLOCKED_MS = 150;
const MOST_ATTEMPTS = 20;

let delay: EventLoopDelay;

beforeEach(() => {
  delay = new EventLoopDelay();
  delay.onModuleInit();
});

afterEach(() => delay.onApplicationShutdown());

/** The measurement of a delayed loop, and when it began. A busy machine may miss the first attempts. */
async function holdUp(): Promise<{ held: number; startedMs: number }> {
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    // Earlier measurements are discarded: among 51 measurements one is above the percentile.
    delay.takeP99Seconds();
    // The first measurement only begins the next one.
    await sleep(50);
    const startedMs = performance.now();
    for (const end = startedMs + BLOCKED_MS; performance.now() < end; );
    await sleep(50);
    const held = delay.takeP99Seconds() ?? 0;
    if (held > 0.5 * (BLOCKED_MS / 1000)) return { held, startedMs };
  }
  throw new Error(`a loop that was held up for ${BLOCKED_MS} ms was not measured`);
}

describe('EventLoopDelay', () => {
  it('nothing measured yet → no value', () => {
    const begun = new EventLoopDelay();
    expect(begun.takeP99Seconds()).toBeUndefined();
    begun.onModuleInit();
    expect(begun.takeP99Seconds()).toBeUndefined();
    begun.onApplicationShutdown();
  });

  it('a delayed loop → the delay; read again at once → the same', async () => {
    const { held, startedMs } = await holdUp();
    // The measurement may have begun a moment before.
    expect(held).toBeLessThanOrEqual((performance.now() - startedMs + 50) / 1000);
    expect(delay.takeP99Seconds()).toBe(held);
  });

  it('delayed before the previous read → forgotten', async () => {
    const { held } = await holdUp();
    // A busy machine may delay the loop as well. Among a hundred measurements of 20 ms the percentile would sink by
    // itself.
    const isForgotten = async () => {
      await sleep(200);
      return (delay.takeP99Seconds() ?? held) < held;
    };
    await eventually(isForgotten, { withinMs: 15_000 });
  });
});
