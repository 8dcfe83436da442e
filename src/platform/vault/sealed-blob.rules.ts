import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto';
import { Secret } from '../../common/log/secret.js';

/** Binds a secret to its use (account, row, type, origin). Opening requires the same members, in any order. */
export type VaultContext = Readonly<Record<string, string>>;

/** The encrypted parts of every blob. */
export interface SealedParts {
  /** 12 bytes, unique per key. */
  readonly iv: Buffer;
  /** Ciphertext followed by the 16-byte authentication tag. */
  readonly ciphertext: Buffer;
}

/** A secret encrypted with a key of this process. */
export interface LocalBlob extends SealedParts {
  /** 1..9999. */
  readonly version: number;
}

/** A secret encrypted with its own data key, which the remote service has wrapped. */
export interface KmsBlob extends SealedParts {
  /** The remote service's output, opaque here. */
  readonly wrapped: string;
}

export const IV_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';
const LOCAL_FORMAT = 'local1';
const KMS_FORMAT = 'kms1';
const TEXT_VERSION = 1;
const VERSION = /^[1-9][0-9]{0,3}$/;
const SERVICE = 'gateway';

/**
 * The context as authenticated: the given members plus the constant `service`.
 *
 * @throws Error when the context has a member `service`, which would collide with the constant.
 */
export function boundContext(context: VaultContext): VaultContext {
  if (Object.hasOwn(context, 'service')) throw new Error('vault context: "service" is reserved');
  return { ...context, service: SERVICE };
}

/** Encrypts with AES-256-GCM; `iv` is 12 fresh random bytes. */
export function encrypt(key: KeyObject, iv: Buffer, plaintext: Buffer, context: VaultContext): SealedParts {
  const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES }).setAAD(additionalData(context));
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
  return { iv, ciphertext };
}

/** The plaintext, or `undefined` when key, context or any bit differs. */
export function decrypt(key: KeyObject, sealed: SealedParts, context: VaultContext): Buffer | undefined {
  const split = sealed.ciphertext.length - TAG_BYTES;
  const decipher = createDecipheriv(CIPHER, key, sealed.iv, { authTagLength: TAG_BYTES })
    .setAAD(additionalData(context))
    .setAuthTag(sealed.ciphertext.subarray(split));
  const plaintext = decipher.update(sealed.ciphertext.subarray(0, split));
  try {
    return Buffer.concat([plaintext, decipher.final()]);
  } catch {
    return undefined;
  }
}

/** Bytes as `encrypt`, in one piece: `iv`, ciphertext, tag. */
export function sealBytes(key: KeyObject, iv: Buffer, bytes: Buffer, context: VaultContext): Buffer {
  return Buffer.concat([iv, encrypt(key, iv, bytes, context).ciphertext]);
}

/** The bytes; `undefined` when key or context differ, and for what {@link sealBytes} did not make. */
export function openBytes(key: KeyObject, sealed: Buffer, context: VaultContext): Buffer | undefined {
  if (sealed.length < IV_BYTES + TAG_BYTES) return undefined;
  return decrypt(key, { iv: sealed.subarray(0, IV_BYTES), ciphertext: sealed.subarray(IV_BYTES) }, context);
}

/**
 * A short text, sealed for whoever has the key.
 *
 * @param context bound to the text.
 */
export function sealText(key: KeyObject, iv: Buffer, text: Secret, context: VaultContext): string {
  const sealed = encrypt(key, iv, Buffer.from(text.reveal(), 'utf8'), context);
  return formatLocalBlob({ version: TEXT_VERSION, ...sealed });
}

/** The text; `undefined` when key or context differ. */
export function openText(key: KeyObject, sealed: string, context: VaultContext): Secret | undefined {
  const blob = parseLocalBlob(sealed);
  const opened = blob && decrypt(key, blob, context);
  return opened && new Secret(opened.toString('utf8'));
}

/**
 * `local1.<version>.<iv>.<ciphertext and tag>`, binary parts in base64url.
 *
 * Source: docs/reference/security.md#vault.
 */
export function formatLocalBlob(blob: LocalBlob): string {
  return [LOCAL_FORMAT, String(blob.version), ...encodeParts(blob)].join('.');
}

/** Parses exactly the output of `formatLocalBlob`; `undefined` for any other text. */
export function parseLocalBlob(text: string): LocalBlob | undefined {
  const [format, version = '', ...rest] = text.split('.');
  const parts = parseParts(rest);
  if (format !== LOCAL_FORMAT || !VERSION.test(version) || parts === undefined) return undefined;
  return { version: Number(version), ...parts };
}

/** `kms1.<wrapped data key>.<iv>.<ciphertext and tag>`, every part in base64url. */
export function formatKmsBlob(blob: KmsBlob): string {
  return [KMS_FORMAT, Buffer.from(blob.wrapped, 'utf8').toString('base64url'), ...encodeParts(blob)].join('.');
}

/** Parses exactly the output of `formatKmsBlob`; `undefined` for any other text. */
export function parseKmsBlob(text: string): KmsBlob | undefined {
  const [format, wrapped = '', ...rest] = text.split('.');
  const parts = parseParts(rest);
  const wrappedBytes = decodeBase64Url(wrapped);
  if (format !== KMS_FORMAT || !wrappedBytes?.length || parts === undefined) return undefined;
  const wrappedText = wrappedBytes.toString('utf8');
  return Buffer.from(wrappedText, 'utf8').equals(wrappedBytes) ? { wrapped: wrappedText, ...parts } : undefined;
}

/** The plaintext length of a blob in bytes, without opening it; `undefined` for any other text. */
export function sealedBytes(text: string): number | undefined {
  const sealed: SealedParts | undefined = parseLocalBlob(text) ?? parseKmsBlob(text);
  return sealed && sealed.ciphertext.length - TAG_BYTES;
}

/** Serializes member by member: an object would put integer-like names first. */
function additionalData(context: VaultContext): Buffer {
  const members = Object.entries(boundContext(context))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  return Buffer.from(`{${members.join(',')}}`, 'utf8');
}

function encodeParts(sealed: SealedParts): string[] {
  return [sealed.iv.toString('base64url'), sealed.ciphertext.toString('base64url')];
}

function parseParts(texts: readonly string[]): SealedParts | undefined {
  if (texts.length !== 2) return undefined;
  const iv = decodeBase64Url(texts[0] ?? '');
  const ciphertext = decodeBase64Url(texts[1] ?? '');
  if (iv?.length !== IV_BYTES || ciphertext === undefined || ciphertext.length < TAG_BYTES) return undefined;
  return { iv, ciphertext };
}

/** Accepts only the canonical form; `undefined` for unused trailing bits, padding and foreign characters. */
function decodeBase64Url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}
