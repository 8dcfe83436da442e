import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { decodeAttestationObject, decodeClientDataJSON, isoBase64URL } from '@simplewebauthn/server/helpers';
import type { PasskeyRow } from './passkeys.repository.js';
import type { RelyingParty } from './relying-party.rules.js';

/** COSE algorithms: EdDSA, ES256, RS256. */
const ALGORITHMS = [-8, -7, -257];

/** What a browser returns for a new passkey; every member is base64url. */
export interface NewPasskeyAnswer {
  readonly id: string;
  readonly clientDataJSON: string;
  readonly attestationObject: string;
}

/** What a browser returns with a signature; every member is base64url. */
export interface PasskeyAnswer {
  readonly id: string;
  readonly clientDataJSON: string;
  readonly authenticatorData: string;
  readonly signature: string;
  /** The person, as the registration named them. */
  readonly userHandle: string;
}

/** A verified new passkey. */
export interface VerifiedPasskey {
  readonly credentialId: string;
  readonly publicKey: Uint8Array;
  readonly counter: number;
}

/** Source: WebAuthn Level 3, 14.6.1: a handle says nothing about the person. */
function handleOf(identityId: string): string {
  return isoBase64URL.fromUTF8String(identityId);
}

/** The challenge that an answer claims to sign. @throws Error not client data. */
export function challengeOf(clientDataJSON: string): string {
  const { challenge, crossOrigin } = decodeClientDataJSON(clientDataJSON);
  if (typeof challenge !== 'string' || challenge === '') throw new Error('Client data without a challenge.');
  // The console is never framed (`X-Frame-Options: DENY`).
  if (crossOrigin === true) throw new Error('Client data of a frame of another site.');
  return challenge;
}

/** Options of a registration: a passkey that verifies the person and identifies them without a user name. */
export function registrationOptions(
  site: RelyingParty,
  challenge: Uint8Array,
  person: { readonly id: string; readonly email: string; readonly name: string | null },
  own: readonly PasskeyRow[],
): Promise<object> {
  return generateRegistrationOptions({
    rpName: 'Gateway',
    rpID: site.id,
    challenge: new Uint8Array(challenge),
    attestationType: 'none',
    userID: new TextEncoder().encode(person.id),
    userName: person.email,
    userDisplayName: person.name ?? '',
    excludeCredentials: own.map(({ credentialId: id }) => ({ id })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: ALGORITHMS,
  });
}

/** Options of a sign-in with whichever passkey the person chooses. */
export function signInOptions(site: RelyingParty, challenge: Uint8Array): Promise<object> {
  return generateAuthenticationOptions({
    rpID: site.id,
    challenge: new Uint8Array(challenge),
    userVerification: 'required',
  });
}

/**
 * A new passkey for a consumed challenge.
 *
 * @throws Error for any problem with it.
 */
export async function verifyNew(
  site: RelyingParty,
  challenge: string,
  { id, clientDataJSON, attestationObject }: NewPasskeyAnswer,
): Promise<VerifiedPasskey> {
  requireNoCertificates(attestationObject);
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: {
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      response: { clientDataJSON, attestationObject },
    },
    expectedChallenge: challenge,
    expectedOrigin: site.origin,
    expectedRPID: site.id,
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHMS,
  });
  if (!verified) throw new Error('Not verified.');
  const { id: credentialId, publicKey, counter } = registrationInfo.credential;
  if (credentialId !== id) throw new Error('Another credential than the answer names.');
  return { credentialId, publicKey, counter };
}

/**
 * The counter of a signature with a stored passkey, over a consumed challenge.
 *
 * @throws Error for any problem with it: the counter has to rise, if the authenticator counts.
 */
export async function verifySignature(
  site: RelyingParty,
  challenge: string,
  stored: PasskeyRow,
  { id, clientDataJSON, authenticatorData, signature, userHandle }: PasskeyAnswer,
): Promise<number> {
  if (userHandle !== handleOf(stored.identityId)) throw new Error('The passkey of another person.');
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: {
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      response: { clientDataJSON, authenticatorData, signature, userHandle },
    },
    expectedChallenge: challenge,
    expectedOrigin: site.origin,
    expectedRPID: site.id,
    requireUserVerification: true,
    credential: {
      id: stored.credentialId,
      publicKey: new Uint8Array(stored.publicKey),
      counter: Number(stored.counter),
    },
  });
  if (!verified) throw new Error('Not verified.');
  return authenticationInfo.newCounter;
}

/**
 * Attestation is not requested. A statement with certificates would still be verified, and the library fetches the
 * revocation lists that they name: an address that the sender chooses.
 */
function requireNoCertificates(attestationObject: string): void {
  const attestation = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject));
  const format = attestation.get('fmt');
  const isSelf = format === 'packed' && attestation.get('attStmt').get('x5c') === undefined;
  if (format !== 'none' && !isSelf) throw new Error('An attestation that was not asked for.');
}
