import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { bytesOf, decodeBase64, isCborMap, readCborMap } from './encoding.rules.js';

const BYTES = Buffer.from([0xfb, 0xff, 0xfe, 0x00]);

function refusal(reason: string) {
  return expect.objectContaining({ code: 'attest_failed', status: 403, reason });
}

describe('decodeBase64', () => {
  it.each(['+//+AA==', '+//+AA', '-__-AA==', '-__-AA'])('%s: either alphabet, padded or not → decoded', (text) => {
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

  it.each(['A'.repeat(1_000_000), 'AAAAAA'])('%.10s longer than allowed → attest_failed', (text) => {
    expect(() => decodeBase64(text, 3)).toThrow(refusal('proof_too_large'));
  });

  it('any encoded bytes → decoded to the same bytes', () => {
    const encodings = fc.constantFrom('base64' as const, 'base64url' as const);
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1 }), encodings, (bytes, encoding) => {
        const sent = Buffer.from(bytes);
        expect(decodeBase64(sent.toString(encoding), bytes.length)).toEqual(sent);
      }),
    );
  });
});

function read(hex: string) {
  return readCborMap(Buffer.from(hex, 'hex'));
}

describe('readCborMap', () => {
  it('a map → its members, prototype names included', () => {
    const map = read('a3616101626262420102695f5f70726f746f5f5fa0');
    expect([...map.keys()]).toEqual(['a', 'bb', '__proto__']);
    expect(bytesOf(map.get('bb'))).toEqual(Buffer.from([1, 2]));
    expect(isCborMap(map.get('__proto__'))).toBe(true);
    expect(map.get('constructor')).toBeUndefined();
  });

  it('members of any kind → read; a tag does not create an object', () => {
    // {"a": 1, 2: null, "t": 35("(a+)+"), "f": 1.5, "u": undefined, "n": -1, "d": 1(0)}
    const map = read('a7616101 02f6 6174d8236528612b292b 6166f93e00 6175f7 616e20 6164c100'.replaceAll(' ', ''));
    expect(map.size).toBe(7);
    expect(map.get('t')).not.toBeInstanceOf(RegExp);
    expect(map.get('d')).not.toBeInstanceOf(Date);
    expect(bytesOf(map.get('a'))).toBeUndefined();
  });

  it.each([
    ['nothing', ''],
    ['no map', '80'],
    ['a number', '00'],
    ['bytes after the map', 'a000'],
    ['a member missing', 'a2616101'],
    ['a value missing', 'a16161'],
    ['a key twice', 'a2616101616102'],
    ['a key twice, once in a longer encoding', 'a26161017801' + '6102'],
    ['a key twice, deeper down', 'a16161a2616201616202'],
    ['a key that is bytes', 'a1416101'],
    ['a key that is an array', 'a18001'],
    ['a key that is a fraction', 'a1f93e0001'],
    ['a map of indefinite length', 'bf616101ff'],
    ['an array of indefinite length', 'a161619f01ff'],
    ['bytes of indefinite length', 'a161615f4101ff'],
    ['text of indefinite length', 'a161617f6161ff'],
    ['a break alone', 'ff'],
    ['a break inside', 'a16161ff'],
    ['text that is not UTF-8', 'a161ff01'],
    ['reserved lengths', 'a161611c'],
    ['an array that claims 2^64 - 1 items', 'a161619bffffffffffffffff'],
    ['a map that claims 2^64 - 1 members', 'bbffffffffffffffff616101'],
    ['bytes that claim 2^64 - 1', 'a161615bffffffffffffffff00'],
    ['bytes that claim 4 GiB', 'a161615affffffff00'],
    ['text that claims 4 GiB', 'a161617affffffff61'],
    ['arrays deeper than allowed', `a16161${'81'.repeat(20)}00`],
    ['tags deeper than allowed', `a16161${'c1'.repeat(5_000)}00`],
    ['maps deeper than allowed', `${'a100'.repeat(5_000)}00`],
  ])('%s → attest_failed', (_, hex) => {
    expect(() => read(hex)).toThrow(expect.objectContaining({ code: 'attest_failed', reason: 'cbor_invalid' }));
  });
});
