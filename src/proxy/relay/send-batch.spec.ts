import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { SendBatch } from './send-batch.js';

function unexpected(error: Error): void {
  throw error;
}

describe('SendBatch', () => {
  it('requests of one turn → sent together at its end, in their order', async () => {
    const batch = new SendBatch();
    const sent: number[] = [];
    for (const request of [1, 2, 3]) batch.add({ send: () => sent.push(request), failed: unexpected });
    await Promise.resolve();
    expect(sent).toEqual([]);
    await nextTurn();
    expect(sent).toEqual([1, 2, 3]);
  });

  it('a request of a later turn, or begun by a send → sent too, once', async () => {
    const batch = new SendBatch();
    const sent: string[] = [];
    const send = () => {
      sent.push('first');
      batch.add({ send: () => sent.push('of the first'), failed: unexpected });
    };
    batch.add({ send, failed: unexpected });
    await nextTurn();
    expect(sent).toEqual(['first']);
    await nextTurn();
    batch.add({ send: () => sent.push('later'), failed: unexpected });
    await nextTurn();
    expect(sent).toEqual(['first', 'of the first', 'later']);
  });

  it('a request that cannot be sent → its own is told, the others leave', async () => {
    const batch = new SendBatch();
    const told: string[] = [];
    const send = () => {
      throw new Error('no such method');
    };
    batch.add({ send, failed: (error) => told.push(error.message) });
    batch.add({ send: () => told.push('sent'), failed: unexpected });
    await nextTurn();
    expect(told).toEqual(['no such method', 'sent']);
  });
});
