import { AuthorizationResponseError } from 'openid-client';
import { GatewayError } from '../../common/errors/gateway-error.js';

/** Why somebody comes back to the console without being signed in, as its page is told. */
export type ThirdPartyFailure =
  | 'access_denied'
  | 'registration_disabled'
  | 'account_exists'
  | 'invitation_invalid'
  | 'sign_in_expired'
  | 'sign_in_failed';

/** A sign-in that did not come to its end, for which the person is sent back to the console. */
export class ThirdPartyRefusal extends Error {
  constructor(
    readonly failure: ThirdPartyFailure,
    options: { readonly cause?: unknown } = {},
  ) {
    super(failure, options);
    this.name = 'ThirdPartyRefusal';
  }
}

/** What an answer of the provider that does not hold comes to: the person has declined, or somebody is wrong. */
export function failureOfAnswer(error: unknown): ThirdPartyFailure {
  const hasDeclined = error instanceof AuthorizationResponseError && error.error === 'access_denied';
  return hasDeclined ? 'access_denied' : 'sign_in_failed';
}

/** What a refusal of ours to register somebody comes to; `undefined` for everything that is not about them. */
export function failureOfRegistration(error: unknown): ThirdPartyFailure | undefined {
  if (!(error instanceof GatewayError)) return undefined;
  switch (error.code) {
    case 'registration_disabled':
      return 'registration_disabled';
    case 'conflict':
      return 'account_exists';
    case 'not_found':
    case 'forbidden':
      return 'invitation_invalid';
    default:
      return undefined;
  }
}

/** For the log: what the library and the network say. Neither repeats what was sent. */
export function failureText(error: unknown): string {
  const texts: string[] = [];
  for (let next = error; next instanceof Error && texts.length < 3; next = next.cause) texts.push(next.message);
  return texts.join(': ');
}
