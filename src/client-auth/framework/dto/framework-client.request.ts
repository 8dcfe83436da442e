import { IgnoresOthers, OneOf, Text, Verbatim } from '../../../common/fields/fields.js';

const MAX_CLIENT_ID_CHARACTERS = 200;
/** Several times the size of real proofs. */
const MAX_PROOF_CHARACTERS = 64 * 1024;

function ClientIdField() {
  return Verbatim({ max: MAX_CLIENT_ID_CHARACTERS, description: 'Id of the application.' });
}

function KeyIdField() {
  return Text({
    max: 44,
    pattern: /^[A-Za-z0-9+/]{43}=$/,
    patternText: 'base64 of 32 bytes',
    description: 'Id of the device key, as the system returned it.',
  });
}

@IgnoresOthers()
export class FrameworkChallengeRequest {
  @ClientIdField()
  readonly client_id: string;

  @KeyIdField()
  readonly key_id: string;
}

@IgnoresOthers()
export class FrameworkRegisterRequest {
  @ClientIdField()
  readonly client_id: string;

  @KeyIdField()
  readonly key_id: string;

  @Verbatim({ max: MAX_PROOF_CHARACTERS, description: 'base64 of the attestation object of the device.' })
  readonly attestation_object: string;
}

@IgnoresOthers()
export class FrameworkTokenRequest {
  @OneOf(['urn:anthropic:params:oauth:grant-type:app-attest'])
  readonly grant_type: string;

  @ClientIdField()
  readonly client_id: string;

  @KeyIdField()
  readonly key_id: string;

  @Verbatim({ max: MAX_PROOF_CHARACTERS, description: 'base64 of the assertion of the device.' })
  readonly assertion: string;
}
