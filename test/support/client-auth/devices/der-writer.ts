/** A small DER encoder, which also writes invalid values. */

const LONG_TAG = 0x1f;

/** One element. @param tag the first byte, its number up to 30. */
export function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content]);
}

/** Contents in an explicit tag of any number. */
export function explicit(number: number, ...contents: readonly Buffer[]): Buffer {
  if (number < LONG_TAG) return der(0xa0 | number, ...contents);
  const content = Buffer.concat(contents);
  const digits = [number % 0x80];
  for (let rest = Math.floor(number / 0x80); rest > 0; rest = Math.floor(rest / 0x80))
    digits.unshift((rest % 0x80) | 0x80);
  return Buffer.concat([Buffer.of(0xa0 | LONG_TAG, ...digits), lengthOf(content.length), content]);
}

export const sequence = (...members: readonly Buffer[]) => der(0x30, ...members);
export const set = (...members: readonly Buffer[]) => der(0x31, ...members);
export const octets = (bytes: Buffer | string) => der(0x04, Buffer.from(bytes));
export const integer = (value: number | bigint) => der(0x02, numberBytes(value));
export const enumerated = (value: number) => der(0x0a, numberBytes(value));
export const boolean = (value: boolean) => der(0x01, Buffer.of(value ? 0xff : 0));
export const utf8 = (text: string) => der(0x0c, Buffer.from(text));
export const bits = (bytes: Buffer) => der(0x03, Buffer.of(0), bytes);
/** @param hex the content of an object identifier. */
export const objectId = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
export const time = (at: Date) => der(0x18, Buffer.from(`${at.toISOString().replace(/[-:T]|\.\d+/g, '')}`));

function numberBytes(value: number | bigint): Buffer {
  const hex = value.toString(16);
  const even = hex.length % 2 === 0 ? hex : `0${hex}`;
  const bytes = Buffer.from(even, 'hex');
  return (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes;
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  const hex = length.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return Buffer.concat([Buffer.of(0x80 | bytes.length), bytes]);
}
