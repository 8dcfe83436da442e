import { AuthorizationResponseError } from 'openid-client';
import { GatewayError } from '../../common/errors/gateway-error.js';

/** The reason of a failed third-party sign-in, as the console's page receives it. */
export type ThirdPartyFailure =
  | 'access_denied'
  | 'registration_disabled'
  | 'account_exists'
  | 'invitation_invalid'
  | 'sign_in_expired'
  | 'sign_in_failed';

/** A failed third-party sign-in; the browser is redirected to the console. */
export class ThirdPartyRefusal extends Error {
  constructor(
    readonly failure: ThirdPartyFailure,
    options: { readonly cause?: unknown } = {},
  ) {
    super(failure, options);
    this.name = 'ThirdPartyRefusal';
  }
}

/** The failure for an error response or an invalid response of the provider. */
export function failureOfAnswer(error: unknown): ThirdPartyFailure {
  const hasDeclined = error instanceof AuthorizationResponseError && error.error === 'access_denied';
  return hasDeclined ? 'access_denied' : 'sign_in_failed';
}

/** The failure for a refused registration; `undefined` for every other error. */
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

/** The messages of an error and up to two causes, for the log. None repeats a sent value. */
export function failureText(error: unknown): string {
  const texts: string[] = [];
  for (let next = error; next instanceof Error && texts.length < 3; next = next.cause) texts.push(next.message);
  return texts.join(': ');
}
