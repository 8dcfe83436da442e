import { GatewayError } from '../../common/errors/gateway-error.js';

/** The granular reason of a refused proof; for the log and the authentication event only. */
type ProofFlaw =
  | 'proof_not_base64'
  | 'proof_too_large'
  | 'cbor_invalid'
  | 'attestation_format_unknown'
  | 'attestation_certificates_invalid'
  | 'attestation_receipt_missing'
  | 'authenticator_data_invalid'
  | 'app_mismatch'
  | 'counter_not_zero'
  | 'counter_not_greater'
  | 'environment_unknown'
  | 'environment_not_allowed'
  | 'credential_id_mismatch'
  | 'key_id_mismatch'
  | 'public_key_unusable'
  | 'certificate_unreadable'
  | 'certificate_not_in_force'
  | 'certificate_issuer_mismatch'
  | 'certificate_authority_invalid'
  | 'certificate_signature_invalid'
  | 'certificate_untrusted'
  | 'certificate_revoked'
  | 'nonce_missing'
  | 'nonce_mismatch'
  | 'signature_missing'
  | 'signature_invalid'
  | 'chain_extended'
  | 'extension_missing'
  | 'extension_elsewhere'
  | 'key_description_invalid'
  | 'application_id_missing'
  | 'application_id_invalid'
  | 'package_not_allowed'
  | 'signing_certificate_not_allowed'
  | 'challenge_mismatch'
  | 'key_not_generated'
  | 'key_purpose_invalid'
  | 'root_of_trust_missing'
  | 'bootloader_unlocked'
  | 'boot_not_verified'
  | 'security_level_software'
  | 'security_level_mismatch'
  | 'security_level_too_low'
  | 'strongbox_not_certified'
  | 'os_patch_too_old'
  | 'provisioning_not_remote'
  | 'key_of_other_proof';

/**
 * Refusal of an invalid proof. Use it only for input of the client and never for a failure of the service, because
 * clients discard their key on `attest_failed`.
 *
 * @param cause the parser error for the client's bytes.
 */
export function proofRefused(reason: ProofFlaw, cause?: unknown): GatewayError {
  return new GatewayError('attest_failed', { reason, cause });
}
