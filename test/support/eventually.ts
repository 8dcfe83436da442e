import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until the condition holds; fails when it does not within `withinMs` milliseconds. */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  { withinMs }: { withinMs: number },
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`did not happen within ${withinMs} ms: ${condition}`);
    await sleep(10);
  }
}
