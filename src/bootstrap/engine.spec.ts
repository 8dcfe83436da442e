import { setImmediate as tick } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import { expect, it } from '@jest/globals';
import { compactHeap } from './engine.js';

it('compacted heap → without what nobody references; nothing else can collect afterwards', async () => {
  const unreachable = new WeakRef({ name: 'unreachable' });
  await tick();
  expect(unreachable.deref()).toBeDefined();
  await tick();
  compactHeap();
  expect(unreachable.deref()).toBeUndefined();
  expect(runInNewContext('typeof gc')).toBe('undefined');
});
