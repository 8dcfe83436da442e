import { styleText } from 'node:util';

const INDENT = '   ';
const LABEL_WIDTH = 16;

/** Writes text as it is. */
export function write(text: string): void {
  process.stdout.write(text);
}

/** A new part of the story. */
export function heading(text: string): void {
  write(`\n${styleText('bold', text)}\n\n`);
}

/** One fact, aligned with the others. */
export function fact(label: string, value: string): void {
  write(`${INDENT}${styleText('dim', label.padEnd(LABEL_WIDTH))}${indented(value)}\n`);
}

/** A remark in a line of its own. */
export function remark(text: string): void {
  write(`${INDENT}${indented(text)}\n`);
}

/** Text that stays below the rest of the story, line breaks included. */
export function indented(text: string): string {
  return text.replaceAll('\n', `\n${INDENT}`);
}

/** Without the zeros at the end that floating point would not need, and never in exponents. */
export function dollars(usd: number): string {
  return `$${usd.toFixed(9).replace(/(\.\d\d\d*?)0+$/, '$1')}`;
}
