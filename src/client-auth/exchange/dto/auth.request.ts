import { IgnoresOthers, Refused, Verbatim } from '../../../common/fields/fields.js';

/** Longer than any identity token in use. */
const MAX_TOKEN_CHARACTERS = 32 * 1024;
/** Several times the size of real proofs. */
const MAX_PROOF_CHARACTERS = 64 * 1024;
/** Source: docs/reference/application-api.md#request-limits. */
const MAX_KEY_CHARACTERS = 200;

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
  return Verbatim({ max: MAX_KEY_CHARACTERS, description: 'As it was issued; consumed by this call.' });
}

function AttestationField() {
  return Verbatim({ max: MAX_PROOF_CHARACTERS, description: 'base64 of the attestation object of the device.' });
}

function AssertionField() {
  return Verbatim({ max: MAX_PROOF_CHARACTERS, description: 'base64 of the assertion of the device.' });
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

/** A backend for one of its issuer users. No other members are accepted. */
export class ExchangeApiKeyRequest {
  @Verbatim({ max: MAX_API_KEY_CHARACTERS, description: 'A key of the application.' })
  readonly api_key: string;

  @IssuerTokenField()
  readonly issuer_token: string;
}
