import type { Authentication } from '../../app-directory/config/authentication-config.js';
import {
  meantProofs,
  type ProofMode,
  type ProofName,
  type Proofs,
  soleAppAttest,
} from '../../app-directory/config/device-proofs-config.js';
import { isBelowVersion } from '../../common/dotted-version.rules.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { Reason } from '../../common/errors/reasons.js';
import {
  type DeviceFacts,
  isOfFrameworkClient,
  isPolicyReason,
  plainFacts,
  readFacts,
  requireFacts,
} from '../devices/device-facts.rules.js';
import { WOULD_REJECT } from '../events/auth-event.js';

/** The configuration whose effect is previewed. */
export type ProvingAuthentication = Extract<Authentication, { readonly type: 'device_proofs' }>;

/** Admitted attempts of one day with the same proof and result. */
export interface AdmittedAttempts {
  /** UTC, `YYYY-MM-DD`. */
  readonly day: string;
  /** Null: a signature of an unknown key, which may be of each proof that signs. */
  readonly proof: ProofName | null;
  /** `ok` or `would_reject`. */
  readonly outcome: string;
  readonly reason: string | null;
  readonly appVersion: string | null;
  /** As stored; null if the proof contained no readable facts. */
  readonly facts: unknown;
  readonly attempts: number;
}

/** Attempts that a configuration would refuse. */
export interface LostAttempts extends Pick<AdmittedAttempts, 'proof' | 'day' | 'appVersion' | 'attempts'> {
  readonly reason: string;
}

const OTHER_PROOF = 'key_of_other_proof' satisfies Reason;

interface Refusal {
  readonly reason: string;
  /** Even if the mode admits failed proofs. */
  readonly isFinal: boolean;
}

/**
 * A configuration that enforces every proof.
 *
 * @returns undefined for an application without device proofs.
 */
export function enforced(authentication: Authentication): ProvingAuthentication | undefined {
  if (authentication.type === 'api_key') return undefined;
  const { end_user } = authentication;
  if (authentication.type === 'device_app_attest') {
    return { type: 'device_proofs', end_user, proofs: soleAppAttest(authentication.app_attest) };
  }
  const proofs = Object.entries(authentication.proofs).map(([name, proof]) => [name, { ...proof, mode: 'enforce' }]);
  return { ...authentication, proofs: Object.fromEntries(proofs) };
}

/**
 * Why a configuration would refuse an attempt that was admitted.
 *
 * @returns `undefined`: it is admitted as before.
 * Source: docs/reference/management-api.md#preview-of-enforcement.
 */
export function refusalOf(attempt: AdmittedAttempts, authentication: ProvingAuthentication): string | undefined {
  const { min_app_version: minimum, proofs } = authentication;
  const claimsVersion = !isOfFrameworkClient(attempt.facts);
  if (minimum !== undefined && claimsVersion && isBelowVersion(attempt.appVersion, minimum)) {
    return 'app_version_too_low';
  }
  const modes = modesFor(attempt.proof, proofs);
  if (modes.length === 0) return 'proof_not_configured';
  const refusal = flawOf(attempt, proofs);
  if (refusal === undefined) return undefined;
  return refusal.isFinal || modes.every((mode) => mode === 'enforce') ? refusal.reason : undefined;
}

function modesFor(proof: ProofName | null, proofs: Proofs): ProofMode[] {
  return meantProofs(proof).flatMap((name) => proofs[name]?.mode ?? []);
}

/** Why an attempt fails: its facts are checked again, any other reason stays. */
function flawOf({ outcome, reason, ...attempt }: AdmittedAttempts, proofs: Proofs): Refusal | undefined {
  const facts = readFacts(attempt.facts);
  const failed = outcome === WOULD_REJECT && reason !== null && !(facts && isPolicyReason(reason)) ? reason : undefined;
  // A key of another proof is refused before its facts are judged.
  const isJudged = facts !== undefined && failed !== OTHER_PROOF;
  const flaw = isJudged ? (failed === undefined ? flawOfFacts(facts, proofs) : flawBefore(facts, proofs)) : undefined;
  return flaw ?? (failed === undefined ? undefined : { reason: failed, isFinal: false });
}

/**
 * What would have failed before it: for App Attest only the environment, since signals come with the assertion.
 */
function flawBefore(facts: DeviceFacts, proofs: Proofs): Refusal | undefined {
  const { app_attest: apple } = proofs;
  if (!('environment' in facts) || apple === undefined) return flawOfFacts(facts, proofs);
  return flawOfFacts(plainFacts(facts.environment), { app_attest: { ...apple, require_signals: false } });
}

function flawOfFacts(facts: DeviceFacts, proofs: Proofs): Refusal | undefined {
  try {
    requireFacts(facts, proofs);
    return undefined;
  } catch (error) {
    if (!(error instanceof GatewayError) || error.reason === undefined) throw error;
    return { reason: error.reason, isFinal: error.code === 'app_version_too_old' };
  }
}

/** Sums of attempts with the same proof, reason, day and version; largest first. */
export function lostBy(lost: readonly LostAttempts[]): LostAttempts[] {
  const sums = new Map<string, LostAttempts>();
  for (const one of lost) {
    const key = JSON.stringify([one.proof, one.reason, one.day, one.appVersion]);
    sums.set(key, { ...one, attempts: one.attempts + (sums.get(key)?.attempts ?? 0) });
  }
  const order = ({ day, reason, proof, appVersion }: LostAttempts) => JSON.stringify([day, reason, proof, appVersion]);
  return [...sums.values()].toSorted(
    (one, other) => other.attempts - one.attempts || (order(one) < order(other) ? -1 : 1),
  );
}
