import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { csvLine, exactUsd } from './csv.rules.js';

describe('money in CSV', () => {
  it.each([
    ['0', '0'],
    ['1', '0.000000001'],
    ['1500000000', '1.5'],
    ['-20', '-0.00000002'],
    ['123456789012345678901234567890', '123456789012345678901.23456789'],
  ])('%s nano-dollars → %s dollars', (nano, usd) => {
    expect(exactUsd(nano)).toBe(usd);
  });

  it('any amount → no digit is lost', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), (nano) => {
        const [whole = '', decimals = ''] = exactUsd(String(nano)).split('.');
        expect(BigInt(whole + decimals.padEnd(9, '0'))).toBe(nano);
      }),
    );
  });
});

describe('cells of CSV', () => {
  it.each([
    ['a,b', '"a,b"'],
    ['say "hi"\n', '"say ""hi""\n"'],
    [null, '""'],
    [-2, '"-2"'],
    ['-0.5', '"-0.5"'],
    ['=1+1', `"'=1+1"`],
    ['+49', '"+49"'.replace('+49', "'+49")],
    ['-2+3', `"'-2+3"`],
    ['@cmd', `"'@cmd"`],
    [' =1', `"' =1"`],
    ['\t=1', `"'\t=1"`],
    ['\u0000=1', `"'\u0000=1"`],
    ['＝1', `"'＝1"`],
  ])('%j → %s', (cell, written) => {
    expect(csvLine([cell])).toBe(`${written}\r\n`);
  });
});
