import { Refused, Verbatim } from '../../common/fields/fields.js';

/** Longer than any identity token in use. */
const MAX_TOKEN_CHARACTERS = 32 * 1024;
/** Several times the size of real proofs. */
const MAX_PROOF_CHARACTERS = 64 * 1024;
/** Source: docs/reference/application-api.md#request-limits. */
const MAX_KEY_CHARACTERS = 200;

export function IssuerTokenField() {
  return Verbatim({
    max: MAX_TOKEN_CHARACTERS,
    description: 'The user’s token of the application’s identity provider.',
  });
}

/** Refused, because the installation is the user and the identity of the token would be ignored. */
export function NoIssuerTokenField() {
  return Refused('must not be sent: the users of this application are its installs');
}

export function KeyIdField() {
  return Verbatim({
    max: MAX_KEY_CHARACTERS,
    description: 'Id of the device key: base64 of the hash of its public half.',
  });
}

export function ChallengeField() {
  return Verbatim({ max: MAX_KEY_CHARACTERS, description: 'As it was answered; used up by this call.' });
}

export function AttestationField() {
  return Verbatim({ max: MAX_PROOF_CHARACTERS, description: 'base64 of the attestation object of the device.' });
}

export function AssertionField() {
  return Verbatim({ max: MAX_PROOF_CHARACTERS, description: 'base64 of the assertion of the device.' });
}
