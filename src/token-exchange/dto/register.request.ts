import { IgnoresOthers } from '../../common/fields/fields.js';
import { AttestationField, ChallengeField, IssuerTokenField, KeyIdField, NoIssuerTokenField } from './proof-fields.js';

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
