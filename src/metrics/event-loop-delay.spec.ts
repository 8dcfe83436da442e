import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { EventLoopDelay } from './event-loop-delay.js';

const BLOCKED_MS = 150;

let delay: EventLoopDelay;

beforeEach(() => {
  delay = new EventLoopDelay();
  delay.onModuleInit();
});

afterEach(() => delay.onApplicationShutdown());

function block(): void {
  for (const end = performance.now() + BLOCKED_MS; performance.now() < end; );
}

describe('EventLoopDelay', () => {
  it('nothing measured yet → nothing to tell', () => {
    expect(new EventLoopDelay().takeP99Seconds()).toBeUndefined();
    expect(delay.takeP99Seconds()).toBeUndefined();
  });

  it('a loop that was held up → by how much; asked again at once → the same', async () => {
    await sleep(50);
    block();
    await sleep(50);
    const held = delay.takeP99Seconds();
    expect(held).toBeGreaterThan(0.5 * (BLOCKED_MS / 1000));
    expect(held).toBeLessThan(30);
    expect(delay.takeP99Seconds()).toBe(held);
  });

  it('held up before the last question → forgotten', async () => {
    await sleep(50);
    block();
    await sleep(50);
    const held = delay.takeP99Seconds();
    await sleep(200);
    expect(delay.takeP99Seconds()).toBeLessThan(held ?? 0);
  });
});
