import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { renderErrors } from '../../src/commands/documentation/errors.rules.js';
import { ERRORS } from '../../src/common/errors/error-catalogue.js';
import { UNAVAILABLE_REASONS } from '../../src/common/errors/unavailable-reasons.js';
import { NOT_READY_REASONS } from '../../src/health/dto/health.response.js';

const DOCUMENT = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
const ROW = /^\| (\d{3}) \| `([a-z_]+)` \| (.+) \|$/gm;

describe('error catalogue', () => {
  it('docs/errors.md → as `npm run docs` writes it', () => {
    expect(DOCUMENT).toBe(renderErrors(ERRORS, UNAVAILABLE_REASONS));
  });

  it('docs/errors.md, read back → the same codes, statuses and messages as the code, both ways', () => {
    const rows = [...DOCUMENT.matchAll(ROW)].map(([, status, code, message]) => [
      code,
      { status: Number(status), message },
    ]);
    expect(Object.fromEntries(rows)).toEqual({ ...ERRORS });
    expect(rows.length).toBe(Object.keys(ERRORS).length);
  });

  it('a reason of a 503 → documented, with what it means', () => {
    const rows = [...DOCUMENT.matchAll(/^\| `([a-z_]+)` \| (\S.+\.) \|$/gm)].map(([, reason, means]) => [
      reason,
      means,
    ]);
    expect(Object.fromEntries(rows)).toEqual({ ...UNAVAILABLE_REASONS });
  });

  it('a reason why readyz answers 503 → documented where operators read of it', () => {
    const operations = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
    const [row = ''] = /^\| `reason` \| null when it is 200.*$/m.exec(operations) ?? [];
    const documented = [...row.matchAll(/`([a-z]+)`/g)].map(([, reason]) => reason).filter((name) => name !== 'reason');
    expect(documented.toSorted()).toEqual([...NOT_READY_REASONS].toSorted());
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
