import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { AnswerBatch } from './answer-batch.js';

/** A response that records when it was ended, and with which body. */
function answerCalled(name: string, ended: string[]): ServerResponse {
  const end = (body: string | Buffer, encoding?: BufferEncoding) => {
    ended.push(
      `${name} ${typeof body === 'string' ? Buffer.from(body, encoding).toString('hex') : body.toString('hex')}`,
    );
  };
  return { end } as Partial<ServerResponse> as ServerResponse;
}

describe('AnswerBatch', () => {
  it('first answer of a turn → at once; the others → in their order at its end', async () => {
    const batch = new AnswerBatch();
    const ended: string[] = [];
    for (const name of ['a', 'b', 'c']) batch.end(answerCalled(name, ended), Buffer.from([1]));
    expect(ended).toEqual(['a 01']);
    await nextTurn();
    expect(ended).toEqual(['a 01', 'b 01', 'c 01']);
  });

  it('next turn → its first answer goes at once again', async () => {
    const batch = new AnswerBatch();
    const ended: string[] = [];
    batch.end(answerCalled('a', ended), Buffer.from([1]));
    await nextTurn();
    batch.end(answerCalled('b', ended), Buffer.from([2]));
    expect(ended).toEqual(['a 01', 'b 02']);
  });

  it.each([0, 255, 8 * 1024, 8 * 1024 + 1])('body of %i bytes → every byte', (size) => {
    const ended: string[] = [];
    const body = Buffer.from(Array.from({ length: size }, (_unused, at) => at % 256));
    new AnswerBatch().end(answerCalled('a', ended), body);
    expect(ended).toEqual([`a ${body.toString('hex')}`]);
  });
});
