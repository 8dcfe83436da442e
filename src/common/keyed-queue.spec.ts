import { expect, it } from '@jest/globals';
import { KeyedQueue } from './keyed-queue.js';

/** Work that ends on request. */
function pieces() {
  const turns = new KeyedQueue();
  const underWay: string[] = [];
  const ends = new Map<string, () => void>();
  const begin = (key: string, name: string, failure?: Error) =>
    turns.take(key, async () => {
      underWay.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      underWay.splice(underWay.indexOf(name), 1);
      if (failure !== undefined) throw failure;
      return name;
    });
  return { underWay, begin, end: (name: string) => ends.get(name)?.() };
}

it('work of one key runs one at a time, in order; other keys do not wait', async () => {
  const { underWay, begin, end } = pieces();
  const all = [begin('a', 'first'), begin('a', 'second'), begin('a', 'third'), begin('b', 'other')];
  await null;
  expect(underWay).toEqual(['first', 'other']);
  for (const name of ['first', 'second', 'third']) {
    expect(underWay).toContain(name);
    end(name);
    expect(await all[['first', 'second', 'third'].indexOf(name)]).toBe(name);
    await new Promise(setImmediate);
  }
  expect(underWay).toEqual(['other']);
  end('other');
  expect(await all[3]).toBe('other');
});

it('a failure → only for its own caller', async () => {
  const { begin, end } = pieces();
  const failing = begin('a', 'first', new Error('broken'));
  const next = begin('a', 'second');
  await null;
  end('first');
  await expect(failing).rejects.toThrow('broken');
  await new Promise(setImmediate);
  end('second');
  expect(await next).toBe('second');
});
