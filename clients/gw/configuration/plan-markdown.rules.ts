import { printable } from '../terminal/terminal.js';
import { counted } from '../terminal/words.rules.js';
import { changeLines, countsOf, type Plan, remarksOn } from './plan.rules.js';

/** GitHub takes 65,536 characters. */
const MOST_CHARACTERS = 60_000;
/** Nobody reads a longer line of a comment. */
const MOST_OF_LINE = 400;

/**
 * A plan as GitHub-flavoured Markdown. Names and values are inside fences that they cannot close, where Markdown, HTML
 * and mentions have no effect.
 *
 * @param environment lower-case letters, digits and dashes.
 */
export function planMarkdown(plan: Plan, environment: string | undefined): string {
  const heading = environment === undefined ? '### gw plan' : `### gw plan: ${environment}`;
  const remarks = remarksOn(plan);
  const counts = plan.changes.length === 0 ? 'The account matches the directory.' : countsOf(plan.changes);
  const foot = remarks.length === 0 ? [] : [fenced('text', remarks.slice(0, 20))];
  const render = (body: readonly string[], note?: string) =>
    [
      heading,
      counts,
      ...(body.length === 0 ? [] : [fenced('diff', body)]),
      ...(note === undefined ? [] : [note]),
      ...foot,
    ]
      .join('\n\n')
      .concat('\n');
  // Losses come first: they must not be cut.
  const sorted = plan.changes.toSorted(
    (one, other) => Number(other.action === 'remove') - Number(one.action === 'remove'),
  );
  const whole = render(sorted.flatMap((change) => lines(changeLines(change))));
  if (whole.length <= MOST_CHARACTERS) return whole;
  const short = sorted.map((change) => lines(changeLines({ ...change, fields: [] })));
  for (let count = short.length; count > 0; count = Math.floor(count * 0.9)) {
    const left = short.length - count;
    const more = left === 0 ? '' : ` Not shown: ${counted(left, 'change')}.`;
    const text = render(
      short.slice(0, count).flat(),
      `The plan is too long for a comment: its values are left out.${more}`,
    );
    if (text.length <= MOST_CHARACTERS) return text;
  }
  return render([], 'The plan is too long for a comment.');
}

/** In a diff the sign comes first, and `!` marks a warning. */
const lines = (text: readonly string[]) =>
  text.map((line) => {
    const [, indent = '', sign = ' ', rest = line] = /^( *)([+~!-]) (.*)$/s.exec(line) ?? [];
    return `${sign === '~' ? '!' : sign} ${indent}${rest}`;
  });

/** A block that its text cannot close. */
function fenced(language: string, text: readonly string[]): string {
  const body = text.map((line) => cut(printable(line))).join('\n');
  const longest = Math.max(2, ...[...body.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${body}\n${fence}`;
}

function cut(line: string): string {
  if (line.length <= MOST_OF_LINE) return line;
  return `${line.slice(0, MOST_OF_LINE).replace(/[\ud800-\udbff]$/, '')}…`;
}
