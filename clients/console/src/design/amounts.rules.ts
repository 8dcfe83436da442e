const CENT = 0.01;
/** Digits shown below a cent, so that no cost is shown as zero. */
const SIGNIFICANT_DIGITS = 3;
const MAX_DECIMALS = 12;
const CENT_DIGITS = 2;
/** Ticks of axes are round: digits beyond these are floating-point noise. */
const TICK_DIGITS = 4;

const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const smallDollars = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  maximumSignificantDigits: SIGNIFICANT_DIGITS,
  minimumFractionDigits: 0,
  maximumFractionDigits: MAX_DECIMALS,
});
const whole = new Intl.NumberFormat('en-US');
const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });

/** A sum of money as `$1,234.50`. Below a cent with as many decimals as it takes: never an exponent, never zero. */
export function moneyText(usd: number): string {
  return usd === 0 || Math.abs(usd) >= CENT ? dollars.format(usd) : smallDollars.format(usd);
}

/** A round amount at an axis: without zero cents, and with the digits below a cent. */
export function moneyTickText(usd: number): string {
  return `$${usd.toLocaleString('en-US', { maximumSignificantDigits: TICK_DIGITS })}`;
}

/**
 * A price of a million units, with every digit that the catalog has, and with both of its cents: `$2`, `$0.60`,
 * `$0.075`.
 */
export function priceText(usd: number): string {
  const minimumFractionDigits = Number.isInteger(usd) ? 0 : CENT_DIGITS;
  return `$${usd.toLocaleString('en-US', { minimumFractionDigits, maximumFractionDigits: MAX_DECIMALS })}`;
}

/** A count with separators: `1,234,567`. */
export function countText(count: number): string {
  return whole.format(count);
}

/** A number of things: `1 call`, `1,204 calls`. */
export function countedText(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`;
}

/** A large count in short: `1.2M`. */
export function shortCountText(count: number): string {
  return count < 10_000 ? whole.format(count) : compact.format(count);
}

/** A share in percent; neither a small share nor a small rest is shown as zero. */
export function shareText(part: number, all: number): string {
  if (part === 0) return '0%';
  if (all === 0) return '100%';
  const percent = (part / all) * 100;
  if (percent < 1) return '<1%';
  return percent < 100 && percent > 99 ? '>99%' : `${Math.round(percent)}%`;
}

/** A readable duration: `840 ms`, `12.4 s`. */
export function durationText(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
