import { describe, expect, it } from '@jest/globals';
import { readIdempotencyPair } from './idempotency-headers.rules.js';

const TOKEN = 'Ab3-_'.repeat(7);
const refusal = (headers: Record<string, string>): string => {
  try {
    readIdempotencyPair(headers);
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
  throw new Error('was not refused');
};

describe('headers of a creation', () => {
  it('neither: a plain creation', () => {
    expect(readIdempotencyPair({ 'content-type': 'application/json' })).toBeUndefined();
  });

  it.each([32, 256])('both of %i characters: the pair', (length) => {
    const pair = readIdempotencyPair({
      'idempotency-key': 'k'.repeat(length),
      'x-idempotency-proof': '_'.repeat(length),
    });
    expect([pair?.key, pair?.proof.reveal()]).toEqual(['k'.repeat(length), '_'.repeat(length)]);
    expect(JSON.stringify(pair)).not.toContain('_'.repeat(length));
  });

  it('only one: refused, naming the other', () => {
    expect(refusal({ 'idempotency-key': TOKEN })).toBe('X-Idempotency-Proof: is required with Idempotency-Key');
    expect(refusal({ 'x-idempotency-proof': TOKEN })).toBe('Idempotency-Key: is required with X-Idempotency-Proof');
  });

  it.each([
    ['31 characters', 'k'.repeat(31)],
    ['257 characters', 'k'.repeat(257)],
    ['nothing', ''],
    ['a blank', `${'k'.repeat(32)} `],
    ['a full stop', `${'k'.repeat(32)}.`],
    ['a letter with a mark', `${'k'.repeat(32)}é`],
    ['a line end', `${'k'.repeat(32)}\n`],
  ])('%s: refused, naming that header', (_what, sent) => {
    expect(refusal({ 'idempotency-key': sent, 'x-idempotency-proof': TOKEN })).toMatch(/^Idempotency-Key: must be 32/);
    expect(refusal({ 'idempotency-key': TOKEN, 'x-idempotency-proof': sent })).toMatch(/^X-Idempotency-Proof: must be/);
  });
});
