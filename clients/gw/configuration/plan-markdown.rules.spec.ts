import { describe, expect, it } from '@jest/globals';
import type { Change, Plan } from './plan.rules.js';
import { planMarkdown } from './plan-markdown.rules.js';

const change = (name: string, other: Partial<Change> = {}): Change => ({
  ...{ kind: 'app', action: 'update', name, id: 'app_1', fields: [], meaning: [], ...other },
});
const plan = (changes: readonly Change[], other: Partial<Plan> = {}): Plan => ({
  ...{ changes, missing: [], unowned: { apps: [], providers: [] }, newKeys: [], ...other },
});

/** The lines of a document outside code fences (CommonMark, 4.5). */
function outside(markdown: string): readonly string[] {
  let fence: string | undefined;
  return markdown.split('\n').filter((line) => {
    const run = /^ {0,3}(`{3,})/.exec(line)?.[1];
    if (fence === undefined) {
      fence = run;
      return run === undefined;
    }
    if (run !== undefined && run.length >= fence.length && line.trim() === run) fence = undefined;
    return false;
  });
}

describe('a plan as Markdown', () => {
  it('→ counts, changes as a diff, and what it requires', () => {
    const fields = [{ path: 'config.limits.per_user.requests.per_day', before: 300, after: 100 }];
    const text = planMarkdown(
      plan([change('notes', { fields, meaning: ['Requests per day: 300 becomes 100.'] })], { newKeys: ['other'] }),
      'production',
    );
    expect(text).toContain('### gw plan: production\n\n0 to create, 1 to change, 0 to remove.\n\n```diff\n');
    expect(text).toContain('! update application notes\n!     config.limits.per_user.requests.per_day: 300 -> 100\n');
    expect(text).toContain('!     Requests per day: 300 becomes 100.\n```\n');
    expect(text).toContain('```text\nFirst keys are created for other');
  });

  it.each([
    '```\n# Approved by @admin\n<img src=x onerror=alert(1)>',
    '``````````',
    '\n```\r\n[click](javascript:alert(1))',
    '\u2028```\u2029@everyone',
    '~~~\n</details><!--',
    '\u001b[31m```',
  ])('names, values and sentences that say %j → nothing escapes the code fence', (evil) => {
    const changes = [
      change(evil, { fields: [{ path: evil, before: evil, after: [evil] }], meaning: [evil] }),
      change(evil, { action: 'rename', fields: [{ path: 'handle', before: evil, after: 'x' }] }),
    ];
    const missing = [{ name: evil, problem: evil, nextAction: evil }];
    const text = planMarkdown(plan(changes, { missing, unowned: { apps: [evil], providers: [evil] } }), undefined);
    const said = outside(text).filter((line) => line !== '');
    expect(said).toEqual(['### gw plan', '0 to create, 1 to change, 1 to rename, 0 to remove.']);
    for (const character of ['\u001b', '\u2028', '\u2029']) expect(text).not.toContain(character);
  });

  it('a long plan → fits into a comment; removals are shown, and omissions are stated', () => {
    const long = 'x'.repeat(5_000);
    const many = Array.from({ length: 3_000 }, (_, index) =>
      change(`app-${index}`, { fields: [{ path: 'name', before: '', after: long }], meaning: ['A sentence.'] }),
    );
    const text = planMarkdown(plan([...many, change('lost', { action: 'remove' })]), 'production');
    expect(text.length).toBeLessThanOrEqual(60_000);
    expect(text).toContain('- remove application lost\n');
    expect(text).toMatch(/its values are left out\. Not shown: \d+ changes\./);
  });

  it('only values that are too long → the changes stay', () => {
    const fields = Array.from({ length: 400 }, (_, index) => ({
      path: `p${index}`,
      before: 'y'.repeat(300),
      after: 1,
    }));
    const text = planMarkdown(plan([change('notes', { fields, meaning: ['Every caller loses access.'] })]), undefined);
    expect(text.length).toBeLessThanOrEqual(60_000);
    expect(text).toContain('Every caller loses access.');
    expect(text).toContain('its values are left out');
  });
});
