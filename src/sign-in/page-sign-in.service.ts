import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { EmailAddress } from '../accounts/access/email-address.js';
import { ConsoleCookies } from '../accounts/sessions/console-cookies.js';
import { invalidRequest } from '../common/errors/gateway-error.js';
import { DisplayName, OneOf, Verbatim } from '../common/fields/fields.js';
import { Secret } from '../common/log/secret.js';
import { AddressLimits } from '../platform/address-limits/address-limits.service.js';
import { type BrowserClient, BrowserClients, BrowserSessions } from './browser-sessions.service.js';
import { Passwords } from './passwords/passwords.service.js';
import type { SignedInPerson } from './people/people.service.js';
import { MAX_NAME, MAX_PASSWORD, MIN_PASSWORD } from './people/person.rules.js';
import { SignInStateCookie } from './third-party/sign-in-state-cookie.js';
import { ThirdPartySignIn } from './third-party/third-party-sign-in.service.js';

/** The buttons of a page that sign a person in or out. */
export const SIGN_IN_STEPS = ['sign-in', 'register', 'google', 'sign-out'] as const;

export type SignInStep = (typeof SIGN_IN_STEPS)[number];

/** The fields of the sign-in forms of pages. They depend on the step. */
export abstract class SignInForm {
  @EmailAddress({ optional: true, description: 'Of the person who signs in or registers.' })
  readonly email?: string;

  @Verbatim({ max: MAX_PASSWORD, optional: true })
  readonly password?: string;

  @DisplayName({ max: MAX_NAME, optional: true })
  readonly name?: string;

  /** The confirmation of a decision. */
  @OneOf(['yes'], { optional: true })
  readonly sure?: 'yes';

  /** @throws invalid_request without the confirmation. */
  requireSure(): void {
    if (this.sure === undefined) throw invalidRequest('sure', 'confirm that you requested this');
  }

  /** @throws invalid_request naming the first field that is missing. */
  required(member: 'email' | 'password' | 'name'): string {
    const value = this[member];
    if (value === undefined) throw invalidRequest(member, 'is required');
    return value;
  }
}

/** A person who registers. */
export interface Newcomer {
  readonly name: string;
  readonly email: string;
  readonly password: string;
}

/** The browser, and the reply that sets its cookie. */
export interface Visit {
  readonly browser: BrowserClient;
  readonly reply: FastifyReply;
}

/** What the page is for. */
export interface SignInPurpose {
  /** Path and query of the page, to return to. */
  readonly page: string;
  /** Whether the person comes to claim an account, and gets none of their own. */
  readonly isClaiming: boolean;
}

/** The browser after a step, or the third party it is sent to. */
export type SignInResult = { readonly browser: BrowserClient } | { readonly leaveFor: string };

/** Signs people in and out on server-rendered pages, and sets the session cookie. */
@Injectable()
export class PageSignIn {
  constructor(
    private readonly passwords: Passwords,
    private readonly thirdParty: ThirdPartySignIn,
    private readonly signInState: SignInStateCookie,
    private readonly browsers: BrowserClients,
    private readonly browserSessions: BrowserSessions,
    private readonly cookies: ConsoleCookies,
    private readonly limits: AddressLimits,
  ) {}

  /**
   * Runs the step of a form.
   *
   * @throws invalid_request naming a missing field; rate_limited; and as `Passwords.signUp`, `Passwords.signIn` and
   * `ThirdPartySignIn.begin`.
   */
  async take(step: SignInStep, form: SignInForm, purpose: SignInPurpose, visit: Visit): Promise<SignInResult> {
    const { browser, reply } = visit;
    if (step === 'sign-out') {
      await this.browserSessions.signOut(browser);
      this.cookies.clear(reply);
      return { browser: { ...browser, session: undefined } };
    }
    await this.limits.admit('sign_in_address', { subject: browser.address ?? '' });
    if (step === 'google') return { leaveFor: await this.beginGoogle(purpose, reply) };
    const credential = { email: form.required('email'), password: form.required('password') };
    const { session } =
      step === 'register'
        ? await this.register({ ...credential, name: form.required('name') }, purpose, visit)
        : await this.signIn(credential, visit);
    return { browser: await this.browsers.signedIn(browser, session) };
  }

  /** @throws invalid_request at `password`; as `Passwords.signUp`. */
  async register(
    { name, email, password }: Newcomer,
    { isClaiming }: Pick<SignInPurpose, 'isClaiming'>,
    { browser, reply }: Visit,
  ): Promise<SignedInPerson> {
    if (password.length < MIN_PASSWORD)
      throw invalidRequest('password', `must have at least ${MIN_PASSWORD} characters`);
    const newcomer = { name, email, password: new Secret(password), invitation: undefined, bootstrapKey: undefined };
    const signedUp = await this.passwords.signUp({ ...newcomer, isClaiming }, browser);
    this.cookies.setSession(reply, signedUp.session.cookie.reveal());
    return signedUp;
  }

  /**
   * Begins a sign-in with Google that returns to the page.
   *
   * @returns the address to send the browser to.
   * @throws as `ThirdPartySignIn.begin`.
   */
  async beginGoogle({ page, isClaiming }: SignInPurpose, reply: FastifyReply): Promise<string> {
    const { url, state } = await this.thirdParty.begin({
      ...{ callbackPath: page, errorPath: page, invitationToken: undefined },
      isClaiming,
    });
    this.signInState.set(reply, state);
    return url;
  }

  private async signIn(
    { email, password }: Omit<Newcomer, 'name'>,
    { browser, reply }: Visit,
  ): Promise<SignedInPerson> {
    const signedIn = await this.passwords.signIn({ email, password: new Secret(password) }, browser);
    this.cookies.setSession(reply, signedIn.session.cookie.reveal());
    return signedIn;
  }
}
