import { describe, expect, it } from '@jest/globals';
import { costNote, failuresNote, requestsNote, tokensNote } from './month-figures.rules.js';

const NOTHING = {
  ...{ requests: 0, blocked: 0, errors: 0, cost_usd: 0, estimated_cost_usd: 0 },
  ...{ input_tokens: 0, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 0 },
};
type Totals = Parameters<typeof costNote>[0];
const usage = (members: object) => ({ ...NOTHING, ...members }) as Totals;

describe('notes below the figures of a month', () => {
  it('an estimate larger than the cost → shown next to the cost, not as part of it', () => {
    expect(costNote(usage({ requests: 2, cost_usd: 1, estimated_cost_usd: 3 }))).toBe('and $3.00 estimated');
  });

  it('refused calls → excluded from the cost per call; no calls sent → no note', () => {
    expect(costNote(usage({ requests: 5, blocked: 3, cost_usd: 1 }))).toBe('$0.50 per call sent');
    expect(costNote(usage({ requests: 3, blocked: 3 }))).toBe('');
  });

  it('cached tokens → part of the input tokens, so that the parts add up', () => {
    const tokens = { input_tokens: 1, cached_input_tokens: 20, cache_write_tokens: 300, output_tokens: 4000 };
    expect(tokensNote(usage(tokens))).toBe('321 in, 4,000 out');
  });

  it('a shortened count → the full count in the note; a full one → not repeated', () => {
    expect(requestsNote(usage({ requests: 12_345 }))).toBe('12,345 exactly');
    expect(requestsNote(usage({ requests: 8_443 }))).toBeUndefined();
  });

  it('one of each → singular', () => {
    expect(failuresNote(usage({ errors: 1, blocked: 1 }))).toBe('1 error, 1 refusal');
    expect(failuresNote(usage({ errors: 0, blocked: 2 }))).toBe('0 errors, 2 refusals');
  });
});
