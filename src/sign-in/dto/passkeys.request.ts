import { DisplayName, Text } from '../../common/fields/fields.js';

const BASE64URL = { pattern: /^[\w-]+$/, patternText: 'base64url' } as const;
/** Characters of the longest id that WebAuthn allows, 1023 bytes. */
const MAX_ID = 1_364;
const MAX_CLIENT_DATA = 4_096;
const MAX_OBJECT = 8_192;

export class RegisterPasskeyRequest {
  @DisplayName({ max: 100, description: 'For the person, such as the name of the device.' })
  readonly name: string;

  @Text({ ...BASE64URL, max: MAX_ID, description: '`id` of the credential.' })
  readonly id: string;

  @Text({ ...BASE64URL, max: MAX_CLIENT_DATA })
  readonly clientDataJSON: string;

  @Text({ ...BASE64URL, max: MAX_OBJECT })
  readonly attestationObject: string;
}

export class PasskeySignInRequest {
  @Text({ ...BASE64URL, max: MAX_ID, description: '`id` of the credential.' })
  readonly id: string;

  @Text({ ...BASE64URL, max: MAX_CLIENT_DATA })
  readonly clientDataJSON: string;

  @Text({ ...BASE64URL, max: MAX_OBJECT })
  readonly authenticatorData: string;

  @Text({ ...BASE64URL, max: MAX_OBJECT })
  readonly signature: string;

  @Text({ ...BASE64URL, max: 200 })
  readonly userHandle: string;
}
