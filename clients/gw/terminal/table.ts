import Table from 'cli-table3';
import { printable } from './terminal.js';

const LINES = [
  ...['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right'],
  ...['left', 'left-mid', 'right', 'right-mid', 'mid', 'mid-mid'],
];
const NO_LINES = Object.fromEntries(LINES.map((line) => [line, '']));

/** The gap between two columns. */
const GAP = 2;
/** The minimum width of a column. */
const LEAST = 10;
/** Numbers, amounts and times are never cut. */
const FIGURE = /^[-+$\d.,:TZ ]*$/;
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

type Rows = readonly (readonly string[])[];

/**
 * Rows in columns under their headings, without lines. Cells are made printable.
 *
 * @param width of the terminal; undefined: nothing is cut.
 */
export function table(
  headings: readonly string[],
  rows: readonly (readonly (string | number)[])[],
  width?: number,
): string {
  const style = { head: [], border: [], 'padding-left': 0, 'padding-right': 0 };
  const made = new Table({ head: [...headings], chars: { ...NO_LINES, middle: ' '.repeat(GAP) }, style });
  const cells = rows.map((row) => row.map((cell) => printable(String(cell))));
  made.push(...(width === undefined ? cells : within(width, headings, cells)));
  return made
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

/** Cells that fit a width, as far as possible: the widest texts are cut first, and identifiers last. */
function within(width: number, headings: readonly string[], rows: Rows): string[][] {
  const widths = headings.map((heading, at) => Math.max(heading.length, ...rows.map((row) => widthOf(row[at] ?? ''))));
  const isText = headings.map((_, at) => rows.some((row) => !FIGURE.test(row[at] ?? '')));
  const widest = (isCut: (heading: string) => boolean) =>
    headings
      .flatMap((heading, at) =>
        isText[at] && isCut(heading) && (widths[at] ?? 0) > Math.max(LEAST, heading.length) ? [at] : [],
      )
      .sort((one, other) => (widths[other] ?? 0) - (widths[one] ?? 0))[0];
  let excess = widths.reduce((sum, one) => sum + one, GAP * (headings.length - 1)) - width;
  for (; excess > 0; excess--) {
    const at = widest((heading) => heading !== 'ID') ?? widest(() => true);
    if (at === undefined) break;
    widths[at] = (widths[at] ?? 0) - 1;
  }
  return rows.map((row) => row.map((cell, at) => cut(cell, widths[at] ?? 0)));
}

/** The width of a text in terminal columns. */
const widthOf = (text: string) =>
  [...text].reduce((sum, character) => sum + (WIDE.test(character) ? 2 : /\p{M}/u.test(character) ? 0 : 1), 0);

function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = '';
  for (const character of text) {
    if (widthOf(kept + character) >= width) break;
    kept += character;
  }
  return `${kept}…`;
}

/** Names and values, one line each, the values in one column. */
export function facts(values: Readonly<Record<string, string | number>>): string {
  const width = Math.max(...Object.keys(values).map((name) => name.length));
  const lines = Object.entries(values).map(([name, value]) => `${name.padEnd(width)}  ${printable(String(value))}`);
  return lines.join('\n');
}
