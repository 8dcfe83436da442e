import Table from 'cli-table3';
import { printable } from './terminal.js';

const LINES = [
  ...['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right'],
  ...['left', 'left-mid', 'right', 'right-mid', 'mid', 'mid-mid'],
];
const NO_LINES = Object.fromEntries(LINES.map((line) => [line, '']));

/** Rows under their headings in columns, without lines. Cells are made printable. */
export function table(headings: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const style = { head: [], border: [], 'padding-left': 0, 'padding-right': 0 };
  const made = new Table({ head: [...headings], chars: { ...NO_LINES, middle: '  ' }, style });
  made.push(...rows.map((row) => row.map((cell) => printable(String(cell)))));
  return made
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

/** Names and values, one line each, the values in one column. */
export function facts(values: Readonly<Record<string, string | number>>): string {
  const width = Math.max(...Object.keys(values).map((name) => name.length));
  const lines = Object.entries(values).map(([name, value]) => `${name.padEnd(width)}  ${printable(String(value))}`);
  return lines.join('\n');
}
