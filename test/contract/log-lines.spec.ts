import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { LOG_LEVELS } from '../../src/common/log/log-events.js';

const SOURCE = read('src/common/log/log-events.ts');
const DOCUMENT = read('docs/operations.md');
/** Its level follows the status of the refusal. */
const BY_STATUS = { name: 'gateway_error', level: 'warn, error' };

function read(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
}

/** Names of the lines the service can write, from the source: types leave nothing to read at run time. */
function declaredLines(): string[] {
  const body = /export interface LogEvents \{\n([\s\S]*?)\n\}/.exec(SOURCE)?.[1] ?? '';
  return [...body.matchAll(/^ {2}(\w+):/gm)].map(([, name = '']) => name);
}

function documentedLines(): { name: string; level: string; meaning: string; advice: string }[] {
  const section = DOCUMENT.slice(DOCUMENT.indexOf('\n## Log\n'), DOCUMENT.indexOf('\n## Stopping\n'));
  return [...section.matchAll(/^\| `(\w+)` \| ([a-z, ]+) \| (.+) \| (.+) \|$/gm)].map(
    ([, name = '', level = '', meaning = '', advice = '']) => ({ name, level, meaning, advice }),
  );
}

describe('log lines in docs/operations.md', () => {
  it('names → every line the service can write, and no other', () => {
    expect(declaredLines()).toContain('gateway_error');
    expect(
      documentedLines()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(declaredLines().sort());
  });

  it('levels → those the log writes', () => {
    const levels = new Map<string, string>(Object.entries(LOG_LEVELS));
    for (const { name, level } of documentedLines()) {
      const expected = name === BY_STATUS.name ? BY_STATUS.level : (levels.get(name) ?? 'info');
      expect({ name, level }).toEqual({ name, level: expected });
    }
  });

  it('rows → say what the line means and what to do', () => {
    for (const { meaning, advice } of documentedLines()) {
      expect(meaning).toMatch(/^.{10,}\.$/);
      expect(advice).toMatch(/^.{5,}\.$/);
    }
  });
});
