import type { AppAttest } from '../../../app-directory/config/app-attest-config.js';
import type { Certificate } from '../certificates/certificate.rules.js';
import { findExtension } from '../certificates/certificate.rules.js';
import {
  requireChain,
  requireRoots,
  requireTrustedSignatures,
  type Trust,
} from '../certificates/certificate-chain.rules.js';
import { findSingleOctetString } from '../certificates/der.rules.js';
import { proofRefused } from '../proof-refusal.js';
import { bytesOf, isCborMap, readCborMap } from './encoding.rules.js';
import { p256KeyOf } from './p256-key.rules.js';
import { type AppAttestFacts, attestedSignals, fullSecurityOf } from './signals.rules.js';
import { requireFreshKey, sha256 } from './signed-data.rules.js';

const FORMAT = 'apple-appattest';
/** The object identifier 1.2.840.113635.100.8.2. */
const NONCE_EXTENSION = '2a864886f763640802';
/** The expected values of an attestation. */
export interface ExpectedAttestation {
  readonly app: AppAttest;
  readonly keyId: string;
  readonly clientDataHash: Buffer;
}

/** An attested key. */
export interface AttestedKey {
  /** SPKI, DER in base64. */
  readonly publicKey: string;
  readonly facts: AppAttestFacts;
  /** CMS, as sent; stored for a later version to validate. */
  readonly receipt: Buffer;
}

interface Statement {
  readonly leaf: Buffer;
  readonly intermediate: Buffer;
  readonly authenticatorData: Buffer;
  readonly receipt: Buffer;
}

/**
 * Verifies an attestation object. Cheap checks run first; unknown members are ignored.
 *
 * @param bytes CBOR.
 * @throws attest_failed any check fails; internal_error no root is valid.
 * Source: docs/reference/security.md#attestation-checks.
 */
export function verifyAttestationObject(bytes: Buffer, expected: ExpectedAttestation, trust: Trust): AttestedKey {
  const roots = requireRoots(trust);
  const { leaf, intermediate, authenticatorData, receipt } = readStatement(bytes);
  const environment = requireFreshKey(authenticatorData, expected.app, expected.keyId);
  const chain = requireChain(leaf, intermediate, trust.atMs);
  requireNonce(chain.leaf, sha256(authenticatorData, expected.clientDataHash));
  requireTrustedSignatures(chain, roots);
  const key = p256KeyOf(chain.leaf.ecKey()?.export({ format: 'der', type: 'spki' }), expected.keyId);
  const facts = { environment, ...attestedSignals(authenticatorData), full_security: fullSecurityOf(leaf) };
  return { publicKey: key.toString('base64'), facts, receipt };
}

function readStatement(bytes: Buffer): Statement {
  const attestation = readCborMap(bytes);
  if (attestation.get('fmt') !== FORMAT) throw proofRefused('attestation_format_unknown');
  const statement = attestation.get('attStmt');
  const chain = isCborMap(statement) ? statement.get('x5c') : undefined;
  const [leaf, intermediate] = Array.isArray(chain) && chain.length === 2 ? chain.map(bytesOf) : [];
  if (leaf === undefined || intermediate === undefined) throw proofRefused('attestation_certificates_invalid');
  const receipt = isCborMap(statement) ? bytesOf(statement.get('receipt')) : undefined;
  if (receipt === undefined) throw proofRefused('attestation_receipt_missing');
  const authenticatorData = bytesOf(attestation.get('authData'));
  if (authenticatorData === undefined) throw proofRefused('authenticator_data_invalid');
  return { leaf, intermediate, authenticatorData, receipt };
}

/** Checks that the certificate is bound to this challenge. */
function requireNonce({ bytes }: Certificate, nonce: Buffer): void {
  const extension = findExtension(bytes, NONCE_EXTENSION);
  const certified = extension && findSingleOctetString(extension);
  if (certified === undefined) throw proofRefused('nonce_missing');
  if (!certified.equals(nonce)) throw proofRefused('nonce_mismatch');
}
