import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Ids } from '../../common/ids.js';
import { Log } from '../../common/log/log.js';
import { Secret } from '../../common/log/secret.js';
import type { OpenedSession } from '../../identity/sessions/sessions.service.js';
import { type BrowserClient, BrowserSessions } from '../browser-sessions.service.js';
import { type NewPerson, People } from '../people/people.service.js';
import { type ThirdPartyPerson, thirdPartyPersonOf } from '../people/person.rules.js';
import { Google } from './google.js';
import { OpenIdSubjectsRepository } from './openid-subjects.repository.js';
import {
  checksOf,
  failureOfResponse,
  failureOfSignUp,
  failureText,
  SIGN_IN_STATE_SECONDS,
  type SignInState,
  ThirdPartyRefusal,
} from './third-party-sign-in.rules.js';

const SECRET_CHARACTERS = 48;
const CALLBACK_PATH_BY_DEFAULT = '/';
/** The sign-in page. Source: docs/reference/management-api.md#passwords-and-third-parties. */
export const LOGIN_PATH = '/login';

/** The input of a third-party sign-in. */
export interface ThirdPartyRequest {
  readonly callbackPath: string | undefined;
  readonly errorPath: string | undefined;
  readonly invitationToken: string | undefined;
  /** As `NewPerson.isClaiming`. */
  readonly isClaiming?: boolean;
}

/**
 * Redirects browsers to the provider and handles the callback. Issuer and subject alone identify a person: an e-mail
 * address claim never links to an existing one.
 *
 * Source: docs/reference/management-api.md#passwords-and-third-parties, RFC 9700.
 */
@Injectable()
export class ThirdPartySignIn {
  constructor(
    private readonly dataSource: DataSource,
    private readonly google: Google,
    private readonly subjects: OpenIdSubjectsRepository,
    private readonly people: People,
    private readonly sessions: BrowserSessions,
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
      ...(request.isClaiming ? { isClaiming: true } : {}),
      expiresAtMs: this.clock.nowMs() + SIGN_IN_STATE_SECONDS * 1000,
    };
    try {
      return { url: await this.google.authorizationUrl(checksOf(state)), state };
    } catch (error) {
      if (error instanceof GatewayError) throw error;
      this.logFailure('begin', error);
      throw new GatewayError('service_unavailable', {
        reason: 'third_party_unavailable',
        retryAfterSeconds: 5,
        cause: error,
      });
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
      return await this.signIn(person, { invitation, isClaiming: state.isClaiming }, browser);
    } catch (error) {
      const failure = failureOfSignUp(error);
      throw failure === undefined ? error : new ThirdPartyRefusal(failure, { cause: error });
    }
  }

  /** Opens a session; signs an unknown subject up, with the invitation if there is one. */
  private signIn(
    { issuer, subject, ...newcomer }: ThirdPartyPerson,
    signUp: Pick<NewPerson, 'invitation' | 'isClaiming'>,
    browser: BrowserClient,
  ): Promise<OpenedSession> {
    const known = { issuer, subject };
    return this.dataSource.transaction(async (tx) => {
      const identityId = (await this.subjects.findIdentity(tx, known)) ?? (await this.subjects.findLatest(tx, known));
      if (identityId !== undefined) return this.sessions.open(tx, identityId, browser);
      const { person, session } = await this.people.signUp(tx, { ...newcomer, ...signUp }, browser);
      await this.subjects.insert(tx, known, person.id, this.clock.now());
      return session;
    });
  }

  private async redeem(query: string, state: SignInState): Promise<ThirdPartyPerson> {
    const claims = await this.google.redeem(query, checksOf(state)).catch((error: unknown) => {
      if (error instanceof GatewayError) throw error;
      const failure = failureOfResponse(error);
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
