import { type KeyObject, verify } from 'node:crypto';
import type { AppAttest } from '../../../app-directory/config/app-attest-config.js';
import { proofRefused } from '../proof-refusal.js';
import { bytesOf, readCborMap } from './encoding.rules.js';
import { type AppleSignals, assertedSignals } from './signals.rules.js';
import { requireCounter, sha256 } from './signed-data.rules.js';

/** The expected values of an assertion. */
export interface ExpectedAssertion {
  readonly app: AppAttest;
  readonly clientDataHash: Buffer;
  readonly publicKey: KeyObject;
  /** The counter of the last accepted assertion. */
  readonly counter: number;
}

/** The facts of an accepted assertion. */
export interface VerifiedAssertion {
  /** Above the expected one. */
  readonly counter: number;
  readonly signals: AppleSignals;
}

/**
 * Verifies an assertion.
 *
 * @param bytes CBOR.
 * @throws attest_failed any check fails.
 * Source: docs/reference/security.md#attestation-checks.
 */
export function verifyAssertionObject(bytes: Buffer, expected: ExpectedAssertion): VerifiedAssertion {
  const assertion = readCborMap(bytes);
  const authenticatorData = bytesOf(assertion.get('authenticatorData'));
  const signature = bytesOf(assertion.get('signature'));
  if (authenticatorData === undefined) throw proofRefused('authenticator_data_invalid');
  if (signature === undefined) throw proofRefused('signature_missing');
  const counter = requireCounter(authenticatorData, expected.app);
  if (counter <= expected.counter) throw proofRefused('counter_not_greater');
  const nonce = sha256(authenticatorData, expected.clientDataHash);
  if (!verify('sha256', nonce, expected.publicKey, signature)) throw proofRefused('signature_invalid');
  return { counter, signals: assertedSignals(authenticatorData) };
}
