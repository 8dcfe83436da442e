import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodeBase64 } from './base64.rules.js';

const BYTES = Buffer.from([0xfb, 0xff, 0xfe, 0x00]);

function refusal(reason: string) {
  return expect.objectContaining({ code: 'attest_failed', status: 403, reason });
}

describe('decodeBase64', () => {
  it.each(['+//+AA==', '+//+AA', '-__-AA==', '-__-AA'])('%s: either alphabet, padded or not → the bytes', (text) => {
    expect(decodeBase64(text, 4)).toEqual(BYTES);
  });

  it.each([
    '',
    '=',
    '==',
    '!!!!',
    'A',
    'AAAAA',
    'AA=',
    'AAA==',
    'AA===',
    '=AAA',
    'AA==AA==',
    '+/-_',
    'AA AA',
    'AAAA\n',
    'ÄÖÜß',
    '\0',
  ])('%j → attest_failed', (text) => {
    expect(() => decodeBase64(text, 100)).toThrow(refusal('proof_not_base64'));
  });

  it.each(['A'.repeat(1_000_000), 'AAAAAA'])('%.10s of more bytes than allowed → attest_failed', (text) => {
    expect(() => decodeBase64(text, 3)).toThrow(refusal('proof_too_large'));
  });

  it('whatever was encoded → comes back', () => {
    const encodings = fc.constantFrom('base64' as const, 'base64url' as const);
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1 }), encodings, (bytes, encoding) => {
        const sent = Buffer.from(bytes);
        expect(decodeBase64(sent.toString(encoding), bytes.length)).toEqual(sent);
      }),
    );
  });
});
