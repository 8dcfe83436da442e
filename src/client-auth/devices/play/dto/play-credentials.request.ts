import { JsonValue, Verbatim } from '../../../../common/fields/fields.js';

const MAX_KEY_CHARACTERS = 1_024;
const MAX_ACCOUNT_CHARACTERS = 16 * 1024;

export class PutPlayCredentialsRequest {
  @JsonValue({
    optional: true,
    schema: {
      oneOf: [
        { type: 'object', additionalProperties: true },
        { type: 'string', minLength: 1, maxLength: MAX_ACCOUNT_CHARACTERS },
      ],
    },
    description:
      'The key file of a service account that may use the Play Integrity API, as an object or its JSON text; its `token_uri` is ignored. For `decode: "vendor"`.',
  })
  service_account?: unknown;

  @Verbatim({
    max: MAX_KEY_CHARACTERS,
    optional: true,
    description: 'base64 of 32 bytes, from Play Console. With `verification_key`, for `decode: "local"`.',
  })
  decryption_key?: string;

  @Verbatim({ max: MAX_KEY_CHARACTERS, optional: true, description: 'base64 of an EC key, from Play Console.' })
  verification_key?: string;
}
