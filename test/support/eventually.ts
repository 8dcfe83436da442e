import { setTimeout as sleep } from 'node:timers/promises';

/** The next pause of a wait after one of `ms`, so that slow conditions are not polled a hundred times a second. */
export const longerPause = (ms: number): number => Math.min(1.5 * ms, 50);

/** Waits until the condition holds; fails when it does not within `withinMs` milliseconds. */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  { withinMs }: { withinMs: number },
): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (let pauseMs = 10; !(await condition()); pauseMs = longerPause(pauseMs)) {
    if (performance.now() > deadline) throw new Error(`did not happen within ${withinMs} ms: ${condition}`);
    await sleep(pauseMs);
  }
}
