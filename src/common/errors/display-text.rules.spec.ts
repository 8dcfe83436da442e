import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { displayText, shownName } from './display-text.rules.js';

describe('displayText', () => {
  it.each([
    ['gpt-4.1', '"gpt-4.1"'],
    ['', '""'],
    ['a "b" \\c', '"a \\"b\\" \\\\c"'],
    ['line\nend\u0000', '"line\\nend\\u0000"'],
    ['\u007f\u0085\u2028\u202e', '"\\u007f\\u0085\\u2028\\u202e"'],
    ['max_output_tokenſ', '"max_output_token\\u017f"'],
    ['😀', '"\\ud83d\\ude00"'],
    ['x'.repeat(65), `"${'x'.repeat(64)}"`],
  ])('%j → %s', (text, shown) => {
    expect(displayText(text)).toBe(shown);
  });

  it('any text → printable ASCII in quotes, of bounded length, that decodes to its beginning', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const shown = displayText(text);
        expect(shown).toMatch(/^"[\x20-\x7e]{0,384}"$/);
        expect(JSON.parse(shown)).toBe(text.slice(0, 64));
      }),
    );
  });
});

describe('shownName', () => {
  it.each([
    ['max_output_tokens', 'max_output_tokens'],
    ['anthropic/claude.3', 'anthropic/claude.3'],
    ['a b', '"a b"'],
    ['', '""'],
    ['a.', '"a."'],
    ['größe', '"gr\\u00f6\\u00dfe"'],
    ['x'.repeat(65), `"${'x'.repeat(64)}"`],
  ])('%j → %s', (name, shown) => {
    expect(shownName(name)).toBe(shown);
  });
});
