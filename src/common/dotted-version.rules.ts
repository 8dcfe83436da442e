/** Versions that can be compared: up to ten numbers of up to 18 digits, separated by dots. */
export const DOTTED_NUMBERS = /^\d{1,18}(?:\.\d{1,18}){0,9}$/;

/**
 * Whether a version is below a minimum. Numbers are compared one by one, and a missing one is zero.
 *
 * @param version null and what is no dotted numbers is below every minimum.
 * @param minimum dotted numbers.
 */
export function isBelowVersion(version: string | null, minimum: string): boolean {
  if (version === null || !DOTTED_NUMBERS.test(version)) return true;
  const [sent, least] = [numbersOf(version), numbersOf(minimum)];
  for (let place = 0; place < Math.max(sent.length, least.length); place++) {
    const [one = 0n, other = 0n] = [sent[place], least[place]];
    if (one !== other) return one < other;
  }
  return false;
}

function numbersOf(version: string): bigint[] {
  return version.split('.').map(BigInt);
}
