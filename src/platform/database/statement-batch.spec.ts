import { setImmediate as tick } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { StatementBatch } from './statement-batch.js';

/** Statements that end when the test says so. */
function heldStatements() {
  const statements: { readonly items: readonly number[]; end(): void; fail(error: Error): void }[] = [];
  const batch = new StatementBatch<number, string>((items) => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
    statements.push({ items, end: () => resolve(items.map(String)), fail: reject });
    return promise;
  });
  return { batch, statements, sizes: () => statements.map(({ items }) => items.length) };
}

it('items of one event-loop turn → one statement; each gets its own answer', async () => {
  const { batch, statements } = heldStatements();
  const asked = Promise.all([1, 2, 3].map((item) => batch.add(item)));
  await tick();
  expect(statements.map(({ items }) => items)).toEqual([[1, 2, 3]]);
  statements[0]?.end();
  expect(await asked).toEqual(['1', '2', '3']);
});

it('two statements run → further items wait for one of them, then share a statement, at most 500 each', async () => {
  const { batch, statements, sizes } = heldStatements();
  const asked: Promise<string>[] = [];
  for (let turn = 0; turn < 2; turn++) {
    asked.push(batch.add(turn));
    await tick();
  }
  for (let item = 0; item < 700; item++) asked.push(batch.add(item));
  await tick();
  expect(sizes()).toEqual([1, 1]);
  statements[1]?.end();
  await tick();
  await tick();
  expect(sizes()).toEqual([1, 1, 500]);
  statements[0]?.end();
  await tick();
  await tick();
  expect(sizes()).toEqual([1, 1, 500, 200]);
  for (const { end } of statements) end();
  expect(await Promise.all(asked)).toHaveLength(702);
});

it('a statement fails → its items are rejected, later ones are not', async () => {
  const { batch, statements } = heldStatements();
  const failing = [1, 2].map((item) => batch.add(item).catch(String));
  await tick();
  const later = batch.add(3);
  statements[0]?.fail(new Error('away'));
  expect(await Promise.all(failing)).toEqual(['Error: away', 'Error: away']);
  await tick();
  statements[1]?.end();
  expect(await later).toBe('3');
});

it('a statement with a different number of answers → its items are rejected', async () => {
  const batch = new StatementBatch<number, number>(async () => []);
  await expect(batch.add(1)).rejects.toThrow('0 answers for 1 items');
});
