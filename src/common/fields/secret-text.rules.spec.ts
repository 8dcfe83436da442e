import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Secret } from '../log/secret.js';
import { parseSecretText, secretHintOf } from './secret-text.rules.js';

describe('parseSecretText', () => {
  it.each(['k', 'two words', '!"#$%&~', 'x'.repeat(4096)])(
    'credential: %j → kept exactly, hidden when printed',
    (raw) => {
      const secret = parseSecretText('token', raw);
      expect(secret.reveal()).toBe(raw);
      expect(inspect({ secret })).toBe('{ secret: [secret] }');
    },
  );

  it.each(['', ' ', ' k', 'k ', 'k\n', 'k\r\nx-evil: 1', 'schlüssel', 'k\u0000', 'k\u200b', '\t', 'a\tb'])(
    'credential: %j, which no header carries → refused at its member without repeating it',
    (raw) => {
      expect(() => parseSecretText('token', raw)).toThrow(
        expect.objectContaining({
          code: 'invalid_request',
          message: 'token: must be printable ASCII without surrounding blanks',
        }),
      );
    },
  );
});

describe('secretHintOf', () => {
  it.each([
    ['sk-12345678', '5678'],
    ['12345', '2345'],
    ['1234', '34'],
    ['ab', 'ab'],
    ['a', 'a'],
  ])('hint: %j → %j', (text, hint) => {
    expect(secretHintOf(new Secret(text))).toBe(hint);
  });

  it('hint: any credential → its end, never more than four characters', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 50 }), (text) => {
        const hint = secretHintOf(new Secret(text));
        expect(text.endsWith(hint)).toBe(true);
        expect(hint.length).toBeLessThanOrEqual(4);
      }),
    );
  });
});
