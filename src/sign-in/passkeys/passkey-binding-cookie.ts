import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ConsoleOrigin } from '../../accounts/csrf/csrf-origins.js';
import { Secret } from '../../common/log/secret.js';
import { CHALLENGE_SECONDS } from './passkeys.service.js';

const NAME = 'gw_identity_passkey';
const PATH = '/v1/auth/sign-in/passkey';

/** The cookie that binds a challenge to the browser that asked for it. Its path is that of the sign-in. */
@Injectable()
export class PasskeyBindingCookie {
  constructor(private readonly origin: ConsoleOrigin) {}

  set(reply: FastifyReply, binding: Secret): void {
    this.write(reply, binding.reveal(), CHALLENGE_SECONDS);
  }

  read(request: FastifyRequest): Secret | undefined {
    const value = request.cookies[NAME];
    return value === undefined || value === '' ? undefined : new Secret(value);
  }

  clear(reply: FastifyReply): void {
    this.write(reply, '', 0);
  }

  private write(reply: FastifyReply, value: string, maxAge: number): void {
    const flags = { httpOnly: true, path: PATH, sameSite: 'strict', secure: this.origin.isHttps, maxAge } as const;
    void reply.setCookie(NAME, value, flags);
  }
}
