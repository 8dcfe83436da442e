import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { storeEvents } from './store-events.js';

const badData = () => Object.assign(new Error('invalid input'), { code: '22P02' });
const event = (id: number) => JSON.stringify({ id });

/** A fake table that rejects some events, and every event while it is unavailable. */
class Table {
  readonly stored: number[] = [];
  readonly rejected: number[] = [];
  statements = 0;

  constructor(private readonly poison: ReadonlySet<number>) {}

  readonly insert = async (events: readonly string[]): Promise<void> => {
    this.statements++;
    const ids = events.map((text): number => JSON.parse(text).id);
    if (ids.some((id) => this.poison.has(id))) throw badData();
    this.stored.push(...ids);
  };

  readonly reject = (text: string): void => {
    this.rejected.push(JSON.parse(text).id);
  };
}

describe('store events', () => {
  it('any invalid ones among any number → only they are rejected, the others stored once, in order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 60 }), fc.uniqueArray(fc.nat({ max: 60 })), async (count, bad) => {
        const table = new Table(new Set(bad));
        const ids = Array.from({ length: count }, (_, id) => id);
        await storeEvents(ids.map(event), table);
        expect(table.stored).toEqual(ids.filter((id) => !bad.includes(id)));
        expect(table.rejected).toEqual(ids.filter((id) => bad.includes(id)));
      }),
    );
  });

  it('one invalid event of 500 → found in few statements', async () => {
    const table = new Table(new Set([321]));
    await storeEvents(
      Array.from({ length: 500 }, (_, id) => event(id)),
      table,
    );
    expect(table.stored).toHaveLength(499);
    expect(table.statements).toBeLessThan(22);
  });

  it.each([
    ['connection lost', Object.assign(new Error('gone'), { code: '08006' })],
    ['column of a newer version missing', Object.assign(new Error('no column'), { code: '42703' })],
    ['partition made meanwhile', Object.assign(new Error('partition'), { code: '23514', constraint: undefined })],
    ['no code', new Error('timeout expired')],
    ['no error at all', 'nonsense'],
  ])('%s → thrown, nothing is rejected', async (_name, error) => {
    const table = new Table(new Set());
    const insert = () => Promise.reject(error);
    await expect(storeEvents([event(1)], { insert, reject: table.reject })).rejects.toBe(error);
    expect(table.rejected).toEqual([]);
  });
});
