import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ConsoleOrigin } from '../../accounts/csrf/csrf-origins.js';
import { CookieKeys } from '../../accounts/sessions/console-cookies.js';
import { Clock } from '../../common/clock.js';
import { CALLBACK_PATH } from './google.js';
import {
  readSignInState,
  SIGN_IN_STATE_SECONDS,
  type SignInState,
  signInStateCookie,
} from './third-party-sign-in.rules.js';

const NAME = 'gw_identity_third_party_state';
const PURPOSE = 'third-party sign-in';

/**
 * The cookie that binds the callback to the browser that started the sign-in. Its path is the callback's.
 *
 * Source: docs/reference/management-api.md#sessions-and-cookies.
 */
@Injectable()
export class SignInStateCookie {
  constructor(
    private readonly keys: CookieKeys,
    private readonly origin: ConsoleOrigin,
    private readonly clock: Clock,
  ) {}

  set(reply: FastifyReply, state: SignInState): void {
    this.write(reply, signInStateCookie(state, this.keys.signing(PURPOSE)), SIGN_IN_STATE_SECONDS);
  }

  /** Reads and clears the cookie: it is valid for one callback. */
  take(request: FastifyRequest, reply: FastifyReply): SignInState | undefined {
    this.write(reply, '', 0);
    return readSignInState(request.cookies[NAME], this.keys.verifying(PURPOSE), this.clock.nowMs());
  }

  private write(reply: FastifyReply, value: string, maxAge: number): void {
    // Lax, because the provider redirects the browser cross-site.
    const flags = {
      httpOnly: true,
      path: CALLBACK_PATH,
      sameSite: 'lax',
      secure: this.origin.isHttps,
      maxAge,
    } as const;
    void reply.setCookie(NAME, value, flags);
  }
}
