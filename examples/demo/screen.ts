import { styleText } from 'node:util';

const INDENT = '   ';
const LABEL_WIDTH = 16;

/** Writes text unchanged. */
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

/** A remark on a separate line. */
export function remark(text: string): void {
  write(`${INDENT}${indented(text)}\n`);
}

/** Text that stays below the rest of the output, line breaks included. */
export function indented(text: string): string {
  return text.replaceAll('\n', `\n${INDENT}`);
}

/** Without trailing zeros and exponents. */
export function dollars(usd: number): string {
  return `$${usd.toFixed(9).replace(/(\.\d\d\d*?)0+$/, '$1')}`;
}
