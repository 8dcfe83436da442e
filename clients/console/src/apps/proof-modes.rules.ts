import type { Schemas } from '../api/client';

type Mode = NonNullable<Schemas['AppKeyAttestation']['mode']>;

/** Display names of proofs. */
export const PROOF_LABELS = {
  app_attest: 'App Attest',
  key_attestation: 'Android key attestation',
  play_integrity: 'Play Integrity',
} as const;

/** The strictest first. */
export const MODES = [
  { value: 'enforce', label: 'Enforce: refuse the device' },
  { value: 'tier', label: 'Tier: admit the device with the limits for devices without a proof' },
  { value: 'observe', label: 'Observe: admit the device, and record why the proof failed' },
] as const satisfies readonly { value: Mode; label: string }[];

const strictness = (mode: Mode = 'enforce') => MODES.findIndex(({ value }) => value === mode);

/** The proofs with a looser mode than the strictest one. */
export function looserProofs(proofs: Readonly<Record<string, { readonly mode?: Mode } | undefined>>): string[] {
  const taken = Object.entries(proofs).flatMap(([name, proof]) =>
    proof === undefined ? [] : [{ name, place: strictness(proof.mode) }],
  );
  const strictest = Math.min(...taken.map(({ place }) => place));
  return taken.filter(({ place }) => place > strictest).map(({ name }) => name);
}
