import { randomBytes, randomUUID } from 'node:crypto';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE36 = '0123456789abcdefghijklmnopqrstuvwxyz';
const CROCKFORD32 = '0123456789abcdefghjkmnpqrstvwxyz';

/** The only source of randomness for identifiers and credentials. */
export abstract class Ids {
  /** `length` random bytes from a cryptographic source. */
  abstract bytes(length: number): Buffer;

  /** A random UUID (version 4). */
  abstract uuid(): string;

  /** `length` characters of `0-9A-Za-z`; 48 of them are 285 bits. */
  base62(length: number): string {
    return this.pick(BASE62, length);
  }

  /** `length` characters of `0-9a-z`. */
  base36(length: number): string {
    return this.pick(BASE36, length);
  }

  /** `length` characters of Crockford's base32 in lower case (no i, l, o, u). */
  crockford32(length: number): string {
    return this.pick(CROCKFORD32, length);
  }

  /** Draws without modulo bias: bytes beyond the last whole multiple of the alphabet are discarded. */
  private pick(alphabet: string, length: number): string {
    const limit = 256 - (256 % alphabet.length);
    let text = '';
    while (text.length < length) {
      for (const byte of this.bytes(length - text.length + 8)) {
        if (byte < limit && text.length < length) text += alphabet[byte % alphabet.length];
      }
    }
    return text;
  }
}

/** The operating system's random source. */
export class SystemIds extends Ids {
  bytes(length: number): Buffer {
    return randomBytes(length);
  }

  uuid(): string {
    return randomUUID();
  }
}
