import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Secret } from '../log/secret.js';
import { parseSecretText, secretHintOf, shownHint } from './secret-text.rules.js';

describe('parseSecretText', () => {
  it.each(['12345678', 'two words', '!"#$%&~/', 'x'.repeat(4096)])(
    'credential: %j → kept exactly, hidden when printed',
    (raw) => {
      const secret = parseSecretText('token', raw);
      expect(secret.reveal()).toBe(raw);
      expect(inspect({ secret })).toBe('{ secret: [secret] }');
    },
  );

  it.each(['', ' ', ' k', 'k ', 'k\n', 'k\r\nx-evil: 1', 'schlüssel', 'k\u0000', 'k\u200b', '\t', 'a\tb'])(
    'credential: %j, which no header can carry → refused at its member without repeating it',
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

describe('a credential that is too short', () => {
  it.each(['k', 'ab', 'abc', '1234567'])('%j → refused at its member without repeating it', (raw) => {
    expect(() => parseSecretText('secret', raw)).toThrow(
      expect.objectContaining({ code: 'invalid_request', message: 'secret: must have at least 8 characters' }),
    );
  });
});

describe('secretHintOf', () => {
  it.each([
    ['sk-0123456789abc', '9abc'],
    ['sk-0123456789ab', 'ab'],
    ['12345678', '78'],
    ['1234567', ''],
    ['ab', ''],
    ['😀'.repeat(16), '😀😀😀😀'],
    ['😀'.repeat(15), '😀😀'],
    ['😀'.repeat(7), ''],
    ['0123456789abcde😀', 'cde😀'],
  ])('hint: %j → %j', (text, hint) => {
    expect(secretHintOf(new Secret(text))).toBe(hint);
  });

  it('hint: any credential → its end, at most four characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 50 }), (text) => {
        const hint = secretHintOf(new Secret(text));
        expect(text.endsWith(hint)).toBe(true);
        expect(hint.isWellFormed()).toBe(true);
        expect([...hint].length).toBeLessThanOrEqual([...text].length / 4);
        expect([...hint].length).toBeLessThanOrEqual(4);
      }),
    );
  });
});

describe('a hint stored by an earlier version', () => {
  it.each([
    ['abcd', 16, 'abcd'],
    ['abcd', 15, 'cd'],
    ['abcd', 8, 'cd'],
    ['abcd', 5, ''],
    ['bc', 3, ''],
    ['ab', 2, ''],
    ['78', 8, '78'],
    ['cd', 40, 'cd'],
    ['', 0, ''],
    ['a😀b😀', 12, 'b😀'],
  ])('%j of %d characters → shown as %j', (stored, length, shown) => expect(shownHint(stored, length)).toBe(shown));

  it('of unknown length → shown as stored', () => expect(shownHint('abcd', undefined)).toBe('abcd'));
});
