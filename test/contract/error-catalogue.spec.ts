import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { renderErrors } from '../../src/commands/documentation/errors.rules.js';
import { ERRORS } from '../../src/common/errors/error-catalogue.js';

const DOCUMENT = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
const ROW = /^\| (\d{3}) \| `([a-z_]+)` \| (.+) \|$/gm;

describe('error catalogue', () => {
  it('docs/errors.md → as `npm run docs` writes it', () => {
    expect(DOCUMENT).toBe(renderErrors(ERRORS));
  });

  it('docs/errors.md, read back → the same codes, statuses and messages as the code, both ways', () => {
    const rows = [...DOCUMENT.matchAll(ROW)].map(([, status, code, message]) => [
      code,
      { status: Number(status), message },
    ]);
    expect(Object.fromEntries(rows)).toEqual({ ...ERRORS });
    expect(rows.length).toBe(Object.keys(ERRORS).length);
  });

  it('entries → snake_case codes, statuses of a refusal, one-line messages', () => {
    for (const [code, { status, message }] of Object.entries(ERRORS)) {
      expect(code).toMatch(/^[a-z]+(?:_[a-z]+)*$/);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(600);
      expect(message).toMatch(/^\S.*\.$/);
    }
  });
});
