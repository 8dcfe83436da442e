const USD_DECIMALS = 9;

/** Texts that a spreadsheet runs as a formula, also behind spaces and control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: spreadsheets skip them
const FORMULA = /^[\s\u0000-\u001f]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;

/** Nano-dollars as dollars, exact: a decimal without trailing zeros. @param nanoUsd whole, as Postgres returns them. */
export function exactUsd(nanoUsd: string): string {
  const sign = nanoUsd.startsWith('-') ? '-' : '';
  const digits = nanoUsd.slice(sign.length).padStart(USD_DECIMALS + 1, '0');
  const decimals = digits.slice(-USD_DECIMALS).replace(/0+$/, '');
  return sign + digits.slice(0, -USD_DECIMALS) + (decimals === '' ? '' : `.${decimals}`);
}

/** A line of CSV (RFC 4180); every cell is quoted, and one that a spreadsheet would run begins with an apostrophe. */
export function csvLine(cells: readonly (string | number | null)[]): string {
  return `${cells.map(cell).join(',')}\r\n`;
}

function cell(value: string | number | null): string {
  const text = String(value ?? '');
  const isNumber = typeof value === 'number' || /^-?\d+(?:\.\d+)?$/.test(text);
  const safe = !isNumber && FORMULA.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}
