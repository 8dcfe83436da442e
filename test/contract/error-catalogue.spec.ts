import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { renderErrors, renderReasons } from '../../src/commands/documentation/pages.rules.js';
import { ERRORS } from '../../src/common/errors/error-catalogue.js';
import { REASONS } from '../../src/common/errors/reasons.js';
import { NOT_READY_REASONS } from '../../src/health/dto/health.response.js';

const SOURCES = new URL('../../src/', import.meta.url);
/** Reasons that the code composes from the name of a limit, a resource, an OAuth error or a failed connection. */
const COMPOSED = /^(?:oauth|plan_limit|provider)_|_(?:budget_held|budget_spent|limit_reached)$/;
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

  it('a reason why readyz answers 503 → documented where operators look for it', () => {
    const monitoring = readFileSync(new URL('../../docs/monitoring.md', import.meta.url), 'utf8');
    const [row = ''] = /^\| `reason` \| null; or why it is 503: .*$/m.exec(monitoring) ?? [];
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

describe('reasons', () => {
  it('docs/reasons.md → as `npm run docs` writes it', () => {
    const document = readFileSync(new URL('../../docs/reasons.md', import.meta.url), 'utf8');
    expect(document).toBe(renderReasons(REASONS));
  });

  it('texts → whole sentences', () => {
    for (const { means, advice } of Object.values(REASONS)) {
      expect(means).toMatch(/^\S.{10,}\.$/);
      expect(advice).toMatch(/^\S.{5,}\.$/);
    }
  });

  it('each → used in the code', () => {
    const paths = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' });
    const used = paths.filter((path) => /(?<!\.spec|errors\/reasons)\.ts$/.test(path));
    const code = used.map((path) => readFileSync(new URL(path, SOURCES), 'utf8')).join();
    const unused = Object.keys(REASONS).filter((reason) => !COMPOSED.test(reason) && !code.includes(`'${reason}'`));
    expect(unused).toEqual([]);
  });
});
