/** Digits that identify a double uniquely. Source: IEEE 754-2019, 5.12.2. */
const DOUBLE_DIGITS = 17;
const LITERAL = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i;
const ZERO = 0x30;

/** Significant digits without leading and trailing zeros, times a power of ten. */
interface Decimal {
  /** Empty for zero. */
  readonly digits: string;
  readonly exponent: number;
}

/**
 * True when a JSON number survives a round trip through a double: as the same number or, for a fraction within double
 * precision, as the shorter spelling of the same double.
 *
 * @param literal valid by RFC 8259 section 6.
 * Source: RFC 7493 section 2.2.
 */
export function isKeptAsDouble(literal: string): boolean {
  const value = Number(literal);
  const sent = decimalOf(literal);
  const kept = decimalOf(String(value));
  if (sent === undefined || kept === undefined) return false;
  if (sent.digits === kept.digits && (sent.exponent === kept.exponent || sent.digits === '')) return true;
  return value !== 0 && sent.exponent < 0 && sent.digits.length <= DOUBLE_DIGITS;
}

/** @returns undefined for text that is no number, such as infinity. */
function decimalOf(text: string): Decimal | undefined {
  const match = LITERAL.exec(text);
  if (match === null) return undefined;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const all = whole + fraction;
  let [start, end] = [0, all.length];
  while (start < end && all.charCodeAt(start) === ZERO) start++;
  while (end > start && all.charCodeAt(end - 1) === ZERO) end--;
  return { digits: all.slice(start, end), exponent: Number(exponent) - fraction.length + (all.length - end) };
}
