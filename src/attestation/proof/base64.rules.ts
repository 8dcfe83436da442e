import { proofRefused } from '../proof-refusal.js';

const ALPHABETS = [/^[A-Za-z0-9+/]+={0,2}$/, /^[A-Za-z0-9_-]+={0,2}$/];

/**
 * Decodes standard base64 or base64url, padded or not.
 *
 * @param maxBytes maximum decoded length; a longer text is refused before decoding.
 * @returns at least one byte.
 * @throws attest_failed empty, too long, both alphabets at once, or not base64.
 * Source: docs/reference/security.md#attestation-checks.
 */
export function decodeBase64(text: string, maxBytes: number): Buffer {
  if (Buffer.byteLength(text, 'base64') > maxBytes) throw proofRefused('proof_too_large');
  if (!ALPHABETS.some((alphabet) => alphabet.test(text)) || !isWhole(text)) throw proofRefused('proof_not_base64');
  return Buffer.from(text, 'base64');
}

/** A last group of one character carries no byte. Padding must fill the last group or be absent. */
function isWhole(text: string): boolean {
  return text.endsWith('=') ? text.length % 4 === 0 : text.length % 4 !== 1;
}
