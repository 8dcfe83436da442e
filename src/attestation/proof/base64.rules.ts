import { proofRefused } from '../proof-refusal.js';

const ALPHABETS = [/^[A-Za-z0-9+/]+={0,2}$/, /^[A-Za-z0-9_-]+={0,2}$/];

/**
 * Decodes standard base64 or base64url, padded or not.
 *
 * @param maxBytes longest decoded form; a longer text is refused unread.
 * @returns at least one byte.
 * @throws attest_failed empty, too long, both alphabets at once, or not base64 at all.
 * Source: docs/reference/security.md#attestation-checks.
 */
export function decodeBase64(text: string, maxBytes: number): Buffer {
  if (Buffer.byteLength(text, 'base64') > maxBytes) throw proofRefused('proof_too_large');
  if (!ALPHABETS.some((alphabet) => alphabet.test(text)) || !isWhole(text)) throw proofRefused('proof_not_base64');
  return Buffer.from(text, 'base64');
}

/** A last group of one character carries no byte, and padding fills the last group or is left away. */
function isWhole(text: string): boolean {
  return text.endsWith('=') ? text.length % 4 === 0 : text.length % 4 !== 1;
}
