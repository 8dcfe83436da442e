import { Base64List, IgnoresOthers, OneOf, Refused, Verbatim } from '../../../common/fields/fields.js';
import { MAX_CERTIFICATE_BYTES, MAX_CERTIFICATES } from '../../devices/android/key-attestations.service.js';

/** Longer than any identity token in use. */
const MAX_TOKEN_CHARACTERS = 32 * 1024;
/** Several times the size of real proofs. */
const MAX_PROOF_CHARACTERS = 64 * 1024;
/** Source: docs/reference/application-api.md#request-limits. */
const MAX_KEY_CHARACTERS = 200;
/** Several times the size of real integrity tokens. */
const MAX_INTEGRITY_TOKEN_CHARACTERS = 16 * 1024;
/** Several times the size of real signatures. */
const MAX_SIGNATURE_CHARACTERS = 2_048;

function IssuerTokenField() {
  return Verbatim({
    max: MAX_TOKEN_CHARACTERS,
    description: 'The user’s token of the application’s identity provider.',
  });
}

/** Refused, because the installation is the user and the identity of the token would be ignored. */
function NoIssuerTokenField() {
  return Refused('must not be sent: the users of this application are its installs');
}

function KeyIdField() {
  return Verbatim({
    max: MAX_KEY_CHARACTERS,
    description: 'Id of the device key: base64 of the hash of its public key.',
  });
}

function ChallengeField() {
  return Verbatim({ max: MAX_KEY_CHARACTERS, description: 'As issued; consumed by this call.' });
}

function AttestationField() {
  return Verbatim({ max: MAX_PROOF_CHARACTERS, description: 'base64 of the attestation object of the device.' });
}

function AssertionField() {
  return Verbatim({ max: MAX_PROOF_CHARACTERS, description: 'base64 of the assertion of the device.' });
}

function ChainField() {
  return Base64List({
    max: MAX_CERTIFICATES,
    maxBytes: MAX_CERTIFICATE_BYTES,
    description: 'The certificate chain of the key: base64 of DER each, leaf first, root last.',
  });
}

function SignatureField() {
  return Verbatim({
    max: MAX_SIGNATURE_CHARACTERS,
    description: 'base64 of the signature of the registered key: SHA-256 with ECDSA, DER.',
  });
}

function AndroidProofField() {
  return OneOf(['key_attestation'], { description: 'The proof of the registration.' });
}

function PlayProofField() {
  return OneOf(['play_integrity'], { description: 'The proof of the registration.' });
}

function PublicKeyField() {
  return Verbatim({
    max: MAX_KEY_CHARACTERS,
    description: 'base64 of the public key that will sign the exchanges: P-256, SPKI in DER.',
  });
}

function IntegrityTokenField() {
  return Verbatim({
    max: MAX_INTEGRITY_TOKEN_CHARACTERS,
    description: 'The token of Play Integrity, as the system returned it.',
  });
}

function SignedProofField() {
  return OneOf(['key_attestation', 'play_integrity'], {
    optional: true,
    description: 'The proof that the key was registered with; may be absent where `app_attest` is among the proofs.',
  });
}

/** Registers the device of an issuer user. */
@IgnoresOthers()
export class RegisterUserDeviceRequest {
  @IssuerTokenField()
  readonly issuer_token: string;

  @KeyIdField()
  readonly key_id: string;

  @AttestationField()
  readonly attestation: string;

  @ChallengeField()
  readonly challenge: string;
}

/** Registers an installation, which is its own user. */
@IgnoresOthers()
export class RegisterInstallRequest {
  @NoIssuerTokenField()
  readonly issuer_token?: never;

  @KeyIdField()
  readonly key_id: string;

  @AttestationField()
  readonly attestation: string;

  @ChallengeField()
  readonly challenge: string;
}

/** Registers the Android device of an issuer user. */
@IgnoresOthers()
export class RegisterAndroidUserDeviceRequest {
  @AndroidProofField()
  readonly proof: 'key_attestation';

  @IssuerTokenField()
  readonly issuer_token: string;

  @KeyIdField()
  readonly key_id: string;

  @ChainField()
  readonly certificate_chain: readonly string[];

  @ChallengeField()
  readonly challenge: string;
}

/** Registers an installation on an Android device, which is its own user. */
@IgnoresOthers()
export class RegisterAndroidInstallRequest {
  @AndroidProofField()
  readonly proof: 'key_attestation';

  @NoIssuerTokenField()
  readonly issuer_token?: never;

  @KeyIdField()
  readonly key_id: string;

  @ChainField()
  readonly certificate_chain: readonly string[];

  @ChallengeField()
  readonly challenge: string;
}

/** Registers the device of an issuer user by an integrity token. */
@IgnoresOthers()
export class RegisterPlayUserDeviceRequest {
  @PlayProofField()
  readonly proof: 'play_integrity';

  @IssuerTokenField()
  readonly issuer_token: string;

  @KeyIdField()
  readonly key_id: string;

  @PublicKeyField()
  readonly public_key: string;

  @IntegrityTokenField()
  readonly integrity_token: string;

  @ChallengeField()
  readonly challenge: string;
}

/** Registers an installation, which is its own user, by an integrity token. */
@IgnoresOthers()
export class RegisterPlayInstallRequest {
  @PlayProofField()
  readonly proof: 'play_integrity';

  @NoIssuerTokenField()
  readonly issuer_token?: never;

  @KeyIdField()
  readonly key_id: string;

  @PublicKeyField()
  readonly public_key: string;

  @IntegrityTokenField()
  readonly integrity_token: string;

  @ChallengeField()
  readonly challenge: string;
}

const MAX_API_KEY_CHARACTERS = 8_192;

/** A registered device of an issuer user. */
@IgnoresOthers()
export class ExchangeUserDeviceRequest {
  @IssuerTokenField()
  readonly issuer_token: string;

  @KeyIdField()
  readonly key_id: string;

  @AssertionField()
  readonly assertion: string;

  @ChallengeField()
  readonly challenge: string;
}

/** A registered installation. */
@IgnoresOthers()
export class ExchangeInstallRequest {
  @NoIssuerTokenField()
  readonly issuer_token?: never;

  @KeyIdField()
  readonly key_id: string;

  @AssertionField()
  readonly assertion: string;

  @ChallengeField()
  readonly challenge: string;
}

/** A registered Android device of an issuer user. */
@IgnoresOthers()
export class ExchangeSignedUserDeviceRequest {
  @SignedProofField()
  readonly proof?: 'key_attestation' | 'play_integrity';

  @IssuerTokenField()
  readonly issuer_token: string;

  @KeyIdField()
  readonly key_id: string;

  @SignatureField()
  readonly signature: string;

  @ChallengeField()
  readonly challenge: string;
}

/** A registered installation on an Android device. */
@IgnoresOthers()
export class ExchangeSignedInstallRequest {
  @SignedProofField()
  readonly proof?: 'key_attestation' | 'play_integrity';

  @NoIssuerTokenField()
  readonly issuer_token?: never;

  @KeyIdField()
  readonly key_id: string;

  @SignatureField()
  readonly signature: string;

  @ChallengeField()
  readonly challenge: string;
}

/** A backend for one of its issuer users. No other members are accepted. */
export class ExchangeApiKeyRequest {
  @Verbatim({ max: MAX_API_KEY_CHARACTERS, description: 'A key of the application.' })
  readonly api_key: string;

  @IssuerTokenField()
  readonly issuer_token: string;
}
