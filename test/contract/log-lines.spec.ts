import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { LOG_LINES } from '../../src/commands/documentation/log-event-texts.js';
import { renderLogEvents } from '../../src/commands/documentation/pages.rules.js';

const DOCUMENT = readFileSync(new URL('../../docs/log-events.md', import.meta.url), 'utf8');

describe('log lines', () => {
  it('docs/log-events.md → as `npm run docs` writes it', () => {
    expect(DOCUMENT).toBe(renderLogEvents(LOG_LINES));
  });

  it('texts → whole sentences', () => {
    for (const { means, advice } of Object.values(LOG_LINES)) {
      expect(means).toMatch(/^\S.{10,}\.$/);
      expect(advice ?? 'Nothing.').toMatch(/^\S.{5,}\.$/);
    }
  });
});
