/** Decimals of a nano-dollar, the unit of the service. */
const DECIMALS = 9;
/** Below it a number is exact to the nano-dollar. */
const EXACT_BELOW = 2 ** 53 / 10 ** DECIMALS;

/** An amount in US dollars as lists show it: in cents, and with more digits below a cent. */
export const usd = (amount: number) => `$${amount.toFixed(amount !== 0 && Math.abs(amount) < 0.01 ? 6 : 2)}`;

/** An amount in US dollars to the last nano-dollar. */
export function exactUsd(amount: number): string {
  const size = Math.abs(amount);
  const text = size < EXACT_BELOW ? size.toFixed(DECIMALS).replace(/(\.\d\d\d*?)0+$/, '$1') : String(size);
  return `${amount < 0 ? '-' : ''}$${text}`;
}

/** An instant to the second, as lists show it. */
export const toSecond = (instant: string) => instant.replace(/\.\d+Z$/, 'Z');

/** The day of an instant in UTC. */
export const dayOf = (instant: string) => instant.slice(0, 'YYYY-MM-DD'.length);
