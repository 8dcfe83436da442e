import { hash, timingSafeEqual } from 'node:crypto';
import type { Secret } from './log/secret.js';

/** A secret that a client made or got in a link, and later presents as its proof. */
export const PROOF = /^[A-Za-z0-9_-]{32,256}$/;

/** SHA-256 of a proof or code, hexadecimal: the form in which it is stored. */
export function proofHash(proof: Secret): string {
  return hash('sha256', proof.reveal(), 'hex');
}

/** Compares a proof with a stored hash, in constant time. */
export function provesHash(proof: Secret, stored: string | null): boolean {
  return stored !== null && timingSafeEqual(Buffer.from(proofHash(proof)), Buffer.from(stored));
}
