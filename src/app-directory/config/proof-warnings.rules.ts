import type { Authentication } from './authentication-config.js';
import { PROOF_MODES } from './device-proofs-config.js';

/**
 * Warnings for an operator about proofs that are looser than others of the application.
 *
 * Source: docs/reference/application-api.md#modes-of-proofs.
 */
export function proofWarnings(authentication: Authentication): string[] {
  if (authentication.type !== 'device_proofs') return [];
  const proofs = Object.entries(authentication.proofs).map(([name, { mode }]) => ({ name, mode }));
  const strictness = ({ mode }: { readonly mode: (typeof PROOF_MODES)[number] }) => PROOF_MODES.indexOf(mode);
  const strictest = proofs.toSorted((one, other) => strictness(one) - strictness(other))[0];
  if (strictest === undefined) return [];
  return proofs
    .filter((proof) => strictness(proof) > strictness(strictest))
    .map(
      ({ name, mode }) =>
        `${name} (${mode}) is looser than ${strictest.name} (${strictest.mode}): devices choose their proof, so the application is as strict as ${name}.`,
    );
}
