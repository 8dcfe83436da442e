import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { TurnBatch } from './turn-batch.js';

describe('TurnBatch', () => {
  it('work of one turn → by stage, within a stage in order of arrival', async () => {
    const turn = new TurnBatch();
    const done: string[] = [];
    for (const stage of ['calls', 'ends', 'bodies', 'heads'] as const)
      for (const call of [1, 2]) turn.add(stage, () => done.push(`${stage} ${call}`));
    expect(done).toEqual([]);
    await nextTurn();
    expect(done).toEqual(['heads 1', 'heads 2', 'bodies 1', 'bodies 2', 'ends 1', 'ends 2', 'calls 1', 'calls 2']);
  });

  it('waiting steps of several calls → each step runs for all calls before the next step', async () => {
    const turn = new TurnBatch();
    const done: string[] = [];
    const serve = async (call: number) => {
      done.push(`first ${call}`);
      await undefined;
      done.push(`second ${call}`);
    };
    for (const call of [1, 2]) turn.add('calls', () => void serve(call));
    await nextTurn();
    expect(done).toEqual(['first 1', 'first 2', 'second 1', 'second 2']);
  });

  it('work that adds work → the new work runs in the next turn', async () => {
    const turn = new TurnBatch();
    const done: string[] = [];
    turn.add('ends', () => {
      done.push('end');
      turn.add('heads', () => done.push('head'));
    });
    await nextTurn();
    expect(done).toEqual(['end']);
    await nextTurn();
    expect(done).toEqual(['end', 'head']);
  });
});
