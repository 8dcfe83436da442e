import { describe, expect, it } from '@jest/globals';
import { renderConfiguration, renderEnvironmentExample, toDocumentedSetting } from './configuration.rules.js';

function setting(more: { fallback?: unknown; fallbackText?: string }) {
  return { name: 'NAME', description: 'What it does.', parse: () => undefined, ...more };
}

describe('toDocumentedSetting', () => {
  it.each([
    ['a number', { fallback: 8080 }, '`8080`', '8080'],
    ['zero', { fallback: 0 }, '`0`', '0'],
    ['a flag that is set', { fallback: true }, '`true`', 'true'],
    ['a flag that is not set', { fallback: false }, '`false`', 'false'],
    ['a text', { fallback: './.data' }, '`./.data`', './.data'],
    ['nothing', {}, 'unset', ''],
    ['an object with words for it', { fallback: {}, fallbackText: 'empty' }, 'empty', ''],
    ['words instead of a value', { fallbackText: 'unset: embedded' }, 'unset: embedded', ''],
  ])('default is %s → written for the table and for the example file', (_name, more, text, example) => {
    expect(toDocumentedSetting(setting(more))).toMatchObject({ defaultText: text, exampleValue: example });
  });
});

describe('renderConfiguration', () => {
  it('a bar or a line break in a description → stays inside its cell', () => {
    const variable = { name: 'A', description: 'one | two\n  three', defaultText: 'unset', exampleValue: '' };
    expect(renderConfiguration([variable])).toContain('\n| `A` | unset | one \\| two three |\n');
  });
});

describe('renderEnvironmentExample', () => {
  it('long description → comment lines of bounded length, without breaking words, in order', () => {
    const description = Array.from({ length: 60 }, (_, at) => `word${at}`).join(' ');
    const text = renderEnvironmentExample([{ name: 'A', description, defaultText: '', exampleValue: '7' }]);
    const lines = text.trimEnd().split('\n').slice(2);
    expect(lines.pop()).toBe('# A=7');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(102);
    expect(lines.map((line) => line.slice(2)).join(' ')).toBe(description);
  });
});
