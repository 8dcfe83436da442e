import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { SendBatch } from './send-batch.js';

function unexpected(error: Error): void {
  throw error;
}

const admit = () => undefined;

describe('SendBatch', () => {
  it('requests that are ready together → sent in succession at the end of the turn; one that cannot be sent fails alone', async () => {
    const batch = new SendBatch();
    const told: string[] = [];
    const send = () => {
      throw new Error('no such method');
    };
    batch.add({ admit, send, failed: (error) => told.push(error.message) });
    batch.add({ admit, send: () => told.push('sent'), failed: unexpected });
    expect(told).toEqual([]);
    await nextTurn();
    expect(told).toEqual(['no such method', 'sent']);
    batch.add({ admit, send: () => told.push('next'), failed: unexpected });
    await nextTurn();
    expect(told.at(-1)).toBe('next');
  });

  it('requests wait for the disk → written together, sent once they are on the disk; later ones wait for their own write', async () => {
    const told: string[] = [];
    const disk: PromiseWithResolvers<void>[] = [];
    const batch = new SendBatch(() => {
      told.push('disk');
      const wait = Promise.withResolvers<void>();
      disk.push(wait);
      return wait.promise;
    });
    const add = (name: string) =>
      batch.add({ admit: () => told.push(`admit ${name}`), send: () => told.push(`send ${name}`), failed: unexpected });
    add('a');
    add('b');
    await nextTurn();
    add('c');
    await nextTurn();
    add('d');
    await nextTurn();
    expect(told.splice(0)).toEqual(['admit a', 'admit b', 'disk']);
    disk[0]?.resolve();
    await nextTurn();
    expect(told.splice(0)).toEqual(['send a', 'send b', 'admit c', 'admit d', 'disk']);
    disk[1]?.resolve();
    await nextTurn();
    expect(told.splice(0)).toEqual(['send c', 'send d']);
    add('e');
    await nextTurn();
    expect(told).toEqual(['admit e', 'disk']);
  });

  it('one cannot be recorded, or the disk fails for the rest → not sent, each fails; later ones are sent', async () => {
    const told: string[] = [];
    const failures = [new Error('EIO'), undefined];
    const batch = new SendBatch(async () => {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
    });
    const failed = (error: Error) => told.push(`${error.message}: ${String(error.cause)}`);
    const refuse = () => {
      throw new Error('full');
    };
    batch.add({ admit: refuse, send: () => told.push('sent'), failed });
    batch.add({ admit, send: () => told.push('sent'), failed });
    await nextTurn();
    await nextTurn();
    expect(told.splice(0)).toEqual(['not_recordable: Error: full', 'not_recordable: Error: EIO']);
    batch.add({ admit, send: () => told.push('sent'), failed });
    await nextTurn();
    await nextTurn();
    expect(told).toEqual(['sent']);
  });
});
