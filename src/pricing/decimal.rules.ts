/** A non-negative decimal, exactly `digits / 10 ** scale`. */
interface Decimal {
  readonly digits: bigint;
  /** Digits behind the point, 0 or more. */
  readonly scale: number;
}

/**
 * Converts a number to the decimal of its shortest representation, without binary fraction error.
 *
 * @throws RangeError for a negative number, NaN or infinity.
 */
export function toDecimal(value: number): Decimal {
  if (!Number.isFinite(value) || value < 0) throw new RangeError('a finite number of at least 0 is needed');
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = BigInt(whole + fraction);
  const scale = fraction.length - Number(exponent);
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}

/** `numerator / denominator` rounded to an integer, half up. `numerator` is at least 0, `denominator` above 0. */
export function divideHalfUp(numerator: bigint, denominator: bigint): bigint {
  return (2n * numerator + denominator) / (2n * denominator);
}
