import { IgnoresOthers, Verbatim } from '../../common/fields/fields.js';
import { AssertionField, ChallengeField, IssuerTokenField, KeyIdField, NoIssuerTokenField } from './proof-fields.js';

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
