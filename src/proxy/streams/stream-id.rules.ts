import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { openBytes, sealBytes } from '../../platform/vault/sealed-blob.rules.js';

const PREFIX = 'st_';
const SHAPE = /^st_[A-Za-z0-9_-]{64,128}$/;
const KEY_BYTES = 32;
/** Length of a keyed hash of a caller, an instance or a Redis key. */
const MARK_BYTES = 16;
const ISSUED_BYTES = 4;
const KEPT_BYTES = 2;
const CONTEXT = { purpose: 'stream id' };

/** The content of a stream id, readable only by the service; to anybody else it is random text. */
export interface StreamClaims {
  /** Mark of the caller that owns the stream, in hexadecimal. */
  readonly owner: string;
  /** Mark of the instance that reads the answer, in hexadecimal. */
  readonly instance: string;
  /** Seconds since the Unix epoch. */
  readonly issuedAtS: number;
  readonly resumeSeconds: number;
}

/** Who may read a stream. All keys of an application are one caller. */
export interface StreamOwner {
  readonly appId: string;
  readonly userId: string | null;
}

/** An owner as parts of a mark. */
export function partsOf({ appId, userId }: StreamOwner): readonly [string, string] {
  return [appId, userId === null ? '' : `user ${userId}`];
}

/** The keys of one server secret, each for one purpose. Source: docs/reference/security.md#resumable-answers. */
export class StreamKeys {
  readonly #ids: KeyObject;
  readonly #marks: KeyObject;
  readonly #bytes: Buffer;

  constructor(secret: string) {
    this.#ids = createSecretKey(derived(secret, '', 'gateway stream ids'));
    this.#marks = createSecretKey(derived(secret, '', 'gateway stream marks'));
    this.#bytes = derived(secret, '', 'gateway stream bytes');
  }

  /** Seals claims into an id. @param iv 12 fresh random bytes. */
  seal({ owner, instance, issuedAtS, resumeSeconds }: StreamClaims, iv: Buffer): string {
    const claims = Buffer.alloc(2 * MARK_BYTES + ISSUED_BYTES + KEPT_BYTES);
    claims.write(owner, 0, 'hex');
    claims.write(instance, MARK_BYTES, 'hex');
    claims.writeUInt32BE(issuedAtS, 2 * MARK_BYTES);
    claims.writeUInt16BE(resumeSeconds, 2 * MARK_BYTES + ISSUED_BYTES);
    return PREFIX + sealBytes(this.#ids, iv, claims, CONTEXT).toString('base64url');
  }

  /** @returns undefined for every text that {@link seal} did not make with this secret. */
  open(id: string): StreamClaims | undefined {
    if (!SHAPE.test(id)) return undefined;
    const sealed = Buffer.from(id.slice(PREFIX.length), 'base64url');
    const claims = openBytes(this.#ids, sealed, CONTEXT);
    // The last character of a text in base64url may have bits that its bytes do not.
    if (claims === undefined || PREFIX + sealed.toString('base64url') !== id) return undefined;
    return {
      owner: claims.toString('hex', 0, MARK_BYTES),
      instance: claims.toString('hex', MARK_BYTES, 2 * MARK_BYTES),
      issuedAtS: claims.readUInt32BE(2 * MARK_BYTES),
      resumeSeconds: claims.readUInt16BE(2 * MARK_BYTES + ISSUED_BYTES),
    };
  }

  ownerMark(owner: StreamOwner): string {
    return this.mark('owner', ...partsOf(owner));
  }

  /**
   * A keyed hash in hexadecimal, which identifies something without revealing it. @param parts their order matters.
   */
  mark(purpose: string, ...parts: readonly (string | Buffer)[]): string {
    const hmac = createHmac('sha256', this.#marks).update(purpose);
    for (const part of parts) hmac.update(`\n${Buffer.byteLength(part)}\n`).update(part);
    return hmac.digest('hex').slice(0, 2 * MARK_BYTES);
  }

  /**
   * The key that seals the bytes of one stream.
   *
   * @param once makes a key of its own for one use.
   */
  keyOf(id: string, once?: Buffer): KeyObject {
    const info = once === undefined ? 'gateway stream' : `gateway stream ${once.toString('hex')}`;
    return createSecretKey(Buffer.from(hkdfSync('sha256', this.#bytes, id, info, KEY_BYTES)));
  }
}

function derived(secret: string, salt: string, info: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, info, KEY_BYTES));
}
