/** One request of the storm. */
export interface Asker {
  readonly account: number;
  readonly number: number;
}

/** The number of a request that nobody has sent. */
export const NOBODY = 0;

const NONCE = /n([0-9a-f]+)-([0-9a-f]+)-([0-9a-f]+)\./g;

/** The text by which an answer is known as that of one request. Damage cannot turn it into another one. */
export function nonceOf({ account, number }: Asker): string {
  return `n${account.toString(16)}-${number.toString(16)}-${checkOf(account, number)}.`;
}

/** The requests whose nonces are in a text. */
export function askersIn(text: string): Asker[] {
  return Array.from(text.matchAll(NONCE), ([, account = '', number = '', check]) => ({
    ...{ account: Number.parseInt(account, 16), number: Number.parseInt(number, 16), check },
  })).filter(({ account, number, check }) => check === checkOf(account, number));
}

function checkOf(account: number, number: number): string {
  let mixed = Math.imul(number + 1, 0x9e3779b1) ^ Math.imul(account + 1, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
  return ((mixed ^ (mixed >>> 15)) >>> 0).toString(16).padStart(8, '0');
}
