import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EventsAfter, responseIdIn, resumedResponseOf } from './response-events.rules.js';

const events = [0, 1, 2, 3].map(
  (sequence_number) => `event: x\ndata: ${JSON.stringify({ sequence_number, delta: 'é✓' })}\n\n`,
);

describe('responses that clients resume', () => {
  it('their address → id and sequence number; any other → undefined', () => {
    const id = 'resp_0a';
    expect(resumedResponseOf(`v1/responses/${id}`, 'stream=true&starting_after=7')).toEqual({
      responseId: id,
      startingAfter: 7,
    });
    expect(resumedResponseOf(`v1/responses/${id}`, 'stream=true')).toMatchObject({ startingAfter: -1 });
    expect(resumedResponseOf(`v1/responses/${id}`, 'stream=true&starting_after=x')).toMatchObject({
      startingAfter: -1,
    });
    for (const [path, query] of [
      [`v1/responses/${id}`, ''],
      [`v1/responses/${id}`, 'stream=false'],
      [`v1/responses/${id}/cancel`, 'stream=true'],
      ['v1/responses/other', 'stream=true'],
      ['v1/responses', 'stream=true'],
    ] as const)
      expect(resumedResponseOf(path, query)).toBeUndefined();
  });

  it('the start of a stream → its id', () => {
    expect(responseIdIn(Buffer.from('event: response.created\ndata: {"response":{"id":"resp_1","a":1}'))).toBe(
      'resp_1',
    );
    expect(responseIdIn(Buffer.from('data: {"response":{"id":"resp_1'))).toBeUndefined();
  });

  it('split anywhere → the complete events after the sequence number, byte for byte', () => {
    const bytes = Buffer.from(`${events.join('')}data: {"sequence_number": 4`);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length)), fc.integer({ min: -1, max: 5 }), (cuts, after) => {
        const places = [0, ...cuts.sort((one, other) => one - other), bytes.length];
        const selected = new EventsAfter(after);
        const taken = places.flatMap((from, at) => selected.take(bytes.subarray(from, places[at + 1])) ?? []);
        expect(Buffer.concat(taken).toString()).toBe(events.slice(after + 1).join(''));
      }),
    );
  });
});
