import type { DeviceVerdict, PlayIntegrity } from '../../../app-directory/config/device-proofs-config.js';
import { isJsonObject } from '../../../common/json-object.js';
import { CHALLENGE_LIFETIME_SECONDS } from '../challenges.repository.js';
import { proofRefused } from '../proof-refusal.js';

/** Two correct clocks differ by less. */
const MAX_CLOCK_DIFFERENCE_MS = 60_000;
/** An app has one or two; the payload is trusted, but it is stored. */
const MAX_CERTIFICATES = 20;
const MAX_VERDICTS = 20;
/** An int64 as text, as in the vendor's JSON. */
const WHOLE_NUMBER = /^\d{1,15}$/;
const SHA256_BYTES = 32;

/**
 * The facts of an integrity token that policies check, stored with the key: each exchange checks them against the
 * current configuration.
 */
export interface PlayIntegrityFacts {
  readonly package_name: string;
  /** `appRecognitionVerdict`, as sent; null without one. */
  readonly recognition: string | null;
  /** SHA-256 of the signing certificates, in hex. */
  readonly certificates: readonly string[];
  readonly version_code: number | null;
  /** `deviceRecognitionVerdict`, as sent. */
  readonly device_verdicts: readonly string[];
  /** `appLicensingVerdict`, as sent; null without one. */
  readonly licensing: string | null;
  /** The verdicts were chosen in Play Console. */
  readonly is_test: boolean;
}

/** The values that a token must be bound to. */
export interface ExpectedIntegrity {
  readonly policy: PlayIntegrity;
  /** base64url without padding: SHA-256 of the client data. */
  readonly requestHash: string;
  /** When the challenge was spent, in milliseconds since the epoch. */
  readonly spentAtMs: number;
  /** Receives the facts before they are checked. */
  noteFacts?(facts: PlayIntegrityFacts): void;
}

/**
 * Checks the payload of a decoded token: whether it is bound to this registration, then whether its verdicts suffice.
 *
 * @param payload parsed JSON, as the vendor signed it.
 * @throws attest_failed with the granular reason.
 * Source: docs/reference/security.md#play-integrity.
 */
export function verifyIntegrityPayload(payload: unknown, expected: ExpectedIntegrity): PlayIntegrityFacts {
  if (!isJsonObject(payload)) throw proofRefused('integrity_payload_invalid');
  const { policy } = expected;
  requireRequest(memberOf(payload, 'requestDetails'), expected);
  const facts = factsOf(payload, policy.package_name);
  expected.noteFacts?.(facts);
  requireIntegrityPolicy(facts, policy);
  return facts;
}

/**
 * Checks the facts of a key against the configuration.
 *
 * @throws attest_failed with the granular reason.
 * Source: docs/reference/security.md#play-integrity.
 */
export function requireIntegrityPolicy(facts: PlayIntegrityFacts, policy: PlayIntegrity): void {
  if (facts.package_name !== policy.package_name) throw proofRefused('integrity_package_mismatch');
  if (facts.is_test && !policy.allow_testing) throw proofRefused('integrity_test_response');
  requireRecognition(facts.recognition, policy);
  const { certificates } = policy;
  if (certificates !== undefined && !facts.certificates.some((hash) => certificates.includes(hash))) {
    throw proofRefused('signing_certificate_not_allowed');
  }
  if (!policy.require.every((verdict: DeviceVerdict) => facts.device_verdicts.includes(verdict))) {
    throw proofRefused('device_verdict_missing');
  }
  if (policy.allow_unlicensed || facts.licensing === 'LICENSED') return;
  throw proofRefused(facts.licensing === 'UNLICENSED' ? 'app_unlicensed' : 'license_not_evaluated');
}

function requireRecognition(recognition: string | null, { allow_unrecognized }: PlayIntegrity): void {
  if (recognition === 'PLAY_RECOGNIZED') return;
  if (recognition !== 'UNRECOGNIZED_VERSION') throw proofRefused('app_not_evaluated');
  if (!allow_unrecognized) throw proofRefused('app_unrecognized');
}

/** Standard requests have `requestHash`, classic ones `nonce`. */
function requireRequest(request: Members, { policy, requestHash, spentAtMs }: ExpectedIntegrity): void {
  if (request.requestPackageName !== policy.package_name) throw proofRefused('integrity_package_mismatch');
  const bound = [request.requestHash, request.nonce].filter((value) => value !== undefined);
  if (bound.length === 0 || !bound.every((value) => isHash(value, requestHash))) {
    throw proofRefused('integrity_hash_mismatch');
  }
  const atMs = numberOf(request.timestampMillis);
  if (atMs === null) throw proofRefused('integrity_payload_invalid');
  const earliestMs = spentAtMs - CHALLENGE_LIFETIME_SECONDS * 1000 - MAX_CLOCK_DIFFERENCE_MS;
  if (atMs < earliestMs || atMs > spentAtMs + MAX_CLOCK_DIFFERENCE_MS) throw proofRefused('integrity_token_expired');
}

/** @param requestHash without padding, which a nonce may have. */
function isHash(value: unknown, requestHash: string): boolean {
  return value === requestHash || value === `${requestHash}=`;
}

/** The package is named twice; the vendor omits the second if it did not evaluate the app. */
function factsOf(payload: Members, packageName: string): PlayIntegrityFacts {
  const app = memberOf(payload, 'appIntegrity');
  if (app.packageName !== undefined && app.packageName !== packageName) {
    throw proofRefused('integrity_package_mismatch');
  }
  return {
    package_name: packageName,
    recognition: textOf(app.appRecognitionVerdict),
    certificates: textsOf(app.certificateSha256Digest, MAX_CERTIFICATES).map(hexOfHash),
    version_code: numberOf(app.versionCode),
    device_verdicts: textsOf(memberOf(payload, 'deviceIntegrity').deviceRecognitionVerdict, MAX_VERDICTS),
    licensing: textOf(memberOf(payload, 'accountDetails').appLicensingVerdict),
    is_test: isTest(memberOf(payload, 'testingDetails').isTestingResponse),
  };
}

/** Anything but false counts as a test. */
function isTest(value: unknown): boolean {
  return value !== undefined && value !== false;
}

type Members = Readonly<Record<string, unknown>>;

/** The vendor omits parts that it did not evaluate; these are read as empty objects. */
function memberOf(payload: Members, name: string): Members {
  const value = Object.hasOwn(payload, name) ? payload[name] : undefined;
  if (value === undefined) return {};
  if (!isJsonObject(value)) throw proofRefused('integrity_payload_invalid');
  return value;
}

function textOf(value: unknown): string | null {
  if (value === undefined) return null;
  if (typeof value !== 'string') throw proofRefused('integrity_payload_invalid');
  return value;
}

function textsOf(value: unknown, max: number): string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length > max) throw proofRefused('integrity_payload_invalid');
  return value.map((entry: unknown) => {
    if (typeof entry !== 'string') throw proofRefused('integrity_payload_invalid');
    return entry;
  });
}

function numberOf(value: unknown): number | null {
  if (value === undefined) return null;
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || !WHOLE_NUMBER.test(text)) throw proofRefused('integrity_payload_invalid');
  return Number(text);
}

/** @param digest base64url or base64 of 32 bytes. */
function hexOfHash(digest: string): string {
  const bytes = Buffer.from(digest, 'base64url');
  if (bytes.length !== SHA256_BYTES) throw proofRefused('integrity_payload_invalid');
  return bytes.toString('hex');
}
