import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Ids } from '../../common/ids.js';
import { Log } from '../../common/log/log.js';
import { Secret } from '../../common/log/secret.js';
import type { OpenedSession } from '../../identity/sessions/sessions.service.js';
import type { BrowserClient } from '../browser-client.js';
import { Google } from './google.js';
import { checksOf, SIGN_IN_STATE_SECONDS, type SignInState } from './sign-in-state.rules.js';
import { failureOfAnswer, failureOfRegistration, failureText, ThirdPartyRefusal } from './third-party-failure.rules.js';
import { ThirdPartyPeople } from './third-party-people.service.js';
import { type ThirdPartyPerson, thirdPartyPersonOf } from './third-party-person.rules.js';

const SECRET_CHARACTERS = 48;
const CALLBACK_PATH_BY_DEFAULT = '/';
/** The sign-in page. Source: docs/reference/management-api.md#passwords-and-third-parties. */
export const LOGIN_PATH = '/login';

/** The input of a third-party sign-in. */
export interface ThirdPartyRequest {
  readonly callbackPath: string | undefined;
  readonly errorPath: string | undefined;
  readonly invitationToken: string | undefined;
}

/**
 * Redirects browsers to the provider and handles the callback.
 *
 * Source: docs/reference/management-api.md#passwords-and-third-parties, RFC 9700.
 */
@Injectable()
export class ThirdPartySignIn {
  constructor(
    private readonly google: Google,
    private readonly people: ThirdPartyPeople,
    private readonly clock: Clock,
    private readonly ids: Ids,
    private readonly log: Log,
  ) {}

  /**
   * The redirect target, and the state for the cookie.
   *
   * @throws not_found it is not configured; service_unavailable the provider's metadata is unavailable.
   */
  async begin(request: ThirdPartyRequest): Promise<{ readonly url: string; readonly state: SignInState }> {
    const state = {
      secret: this.ids.base62(SECRET_CHARACTERS),
      callbackPath: request.callbackPath ?? CALLBACK_PATH_BY_DEFAULT,
      errorPath: request.errorPath ?? LOGIN_PATH,
      invitationToken: request.invitationToken ?? null,
      expiresAtMs: this.clock.nowMs() + SIGN_IN_STATE_SECONDS * 1000,
    };
    try {
      return { url: await this.google.authorizationUrl(checksOf(state)), state };
    } catch (error) {
      if (error instanceof GatewayError) throw error;
      this.logFailure('begin', error);
      const refusal = { reason: 'third_party_unavailable', retryAfterSeconds: 5, cause: error };
      throw new GatewayError('service_unavailable', refusal);
    }
  }

  /** @throws not_found it is not configured, so that no sign-in can have started. */
  requireSetUp(): void {
    this.google.requireEnabled();
  }

  /**
   * Opens the session of the person that the provider signed in.
   *
   * @param query of the callback, with its `?`, as received.
   * @throws ThirdPartyRefusal the sign-in failed; not_found it is not configured.
   */
  async finish(query: string, state: SignInState, browser: BrowserClient): Promise<OpenedSession> {
    const person = await this.redeem(query, state);
    const invitation = state.invitationToken === null ? undefined : new Secret(state.invitationToken);
    try {
      return await this.people.signIn(person, invitation, browser);
    } catch (error) {
      const failure = failureOfRegistration(error);
      throw failure === undefined ? error : new ThirdPartyRefusal(failure, { cause: error });
    }
  }

  private async redeem(query: string, state: SignInState): Promise<ThirdPartyPerson> {
    const claims = await this.google.redeem(query, checksOf(state)).catch((error: unknown) => {
      if (error instanceof GatewayError) throw error;
      const failure = failureOfAnswer(error);
      if (failure !== 'access_denied') this.logFailure('callback', error);
      throw new ThirdPartyRefusal(failure, { cause: error });
    });
    const person = thirdPartyPersonOf(claims);
    if (person !== undefined) return person;
    const nobody = new ThirdPartyRefusal('sign_in_failed', { cause: new Error('the identity token names nobody') });
    this.logFailure('callback', nobody);
    throw nobody;
  }

  private logFailure(step: 'begin' | 'callback', error: unknown): void {
    this.log.event('third_party_sign_in_failed', { provider: 'google', step, error: failureText(error) });
  }
}
