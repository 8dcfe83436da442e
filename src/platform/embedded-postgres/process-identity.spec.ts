import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseProcessStat } from './process-identity.js';

function statLine(name: string, state: string, startTicks: string): string {
  return `42 (${name}) ${state} ${Array.from({ length: 18 }, (_, index) => index).join(' ')} ${startTicks} 1 2 3\n`;
}

describe('process stat', () => {
  it('any name, with spaces and parentheses → start and state are found', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(), (name, ticks) => {
        expect(parseProcessStat(statLine(name, 'S', String(ticks)))).toEqual({
          startTicks: String(ticks),
          ended: false,
        });
      }),
    );
  });

  it('zombie → ended, although its id still exists', () => {
    expect(parseProcessStat(statLine('node', 'Z', '7'))).toEqual({ startTicks: '7', ended: true });
  });

  it('other text → undefined', () => {
    fc.assert(fc.property(fc.string({ maxLength: 30 }), (text) => parseProcessStat(text) === undefined));
  });
});
