import { describe, expect, it } from '@jest/globals';
import { findSingleOctetString } from './der.rules.js';

function bytes(hex: string): Buffer {
  return Buffer.from(hex.replaceAll(' ', ''), 'hex');
}

const LONG = '41'.repeat(200);

describe('findSingleOctetString', () => {
  it.each([
    ['as genuine devices wrap it', '3006 a104 0402 4142', '4142'],
    ['not wrapped', '0402 4142', '4142'],
    ['wrapped deeper, with others beside it', '300b 020101 a106 3004 0402 4142', '4142'],
    ['with a length of two bytes', `3081cb 0481c8 ${LONG}`, LONG],
    ['empty', '3002 0400', ''],
  ])('%s → the octet string', (_, hex, expected) => {
    expect(findSingleOctetString(bytes(hex))?.toString('hex')).toBe(expected);
  });

  it.each([
    ['nothing', ''],
    ['none', '3003 020101'],
    ['two', '3006 040141 040142'],
    ['one cut off', '3005 a103 0402 41'],
    ['bytes that are not an element after it', '0401 41 30'],
    ['an indefinite length', '3080 040141 0000'],
    ['an indefinite length before as many bytes', `3080 047e ${'41'.repeat(126)}`],
    ['a length in more bytes than it needs', '308103 040141'],
    ['a length with a leading zero', '30820003 040141'],
    ['a length of four bytes', '3084ffffffff 040141'],
    ['a length of seven bytes', '308700000000000003 040141'],
    ['a tag of several bytes', 'bf8930 03 040141'],
    ['a tag of two bytes', 'bf05 03 00 040141'],
    ['nested deeper than eight', '3012 3010 300e 300c 300a 3008 3006 3004 3002 0400'],
  ])('%s → undefined', (_, hex) => {
    expect(findSingleOctetString(bytes(hex))).toBeUndefined();
  });
});
