import { describe, expect, it } from '@jest/globals';
import { readCode, shownCode } from './recovery-code.rules.js';

const PLAIN = '3abcdefghijk0123';

describe('recovery codes', () => {
  it('shown → four groups of four characters that can be typed back', () => {
    expect(shownCode(PLAIN)).toBe('3abc-defg-hijk-0123');
    expect(readCode(shownCode(PLAIN))).toEqual({ position: 3, plain: PLAIN });
  });

  it.each(['3ABC DEFG HIJK 0123', ` ${PLAIN}\n`, '3abc-defghijk-0123'])('typed as %j → read', (typed) => {
    expect(readCode(typed)).toEqual({ position: 3, plain: PLAIN });
  });

  it.each(['', '3abc', `${PLAIN}4`, `x${PLAIN.slice(1)}`, '3abc-defg-hijk-012!', '３abcdefghijk0123'])(
    '%j → undefined',
    (typed) => expect(readCode(typed)).toBeUndefined(),
  );
});
