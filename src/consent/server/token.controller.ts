import { Controller, Header, HttpCode, Post, Req, UseFilters } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { isStorableText } from '../../common/fields/config-values.js';
import { FORM_TYPE } from '../../common/fields/request-shape.pipe.js';
import { RawBody } from '../../common/http/raw-body.js';
import { SingleParameters } from '../authorizations/authorization.rules.js';
import { OAuthFormAccess } from './oauth.guard.js';
import { OAuthError, OAuthErrorFilter } from './oauth-error.filter.js';
import { type IssuedTokens, OAuthTokens } from './oauth-tokens.service.js';

/** Tokens for codes and refresh tokens. Clients are public: none authenticates by a secret. */
@Controller('oauth')
@UseFilters(OAuthErrorFilter)
export class TokenController {
  constructor(private readonly tokens: OAuthTokens) {}

  @Post('token')
  @OAuthFormAccess()
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @Header('pragma', 'no-cache')
  token(@Req() request: FastifyRequest): Promise<IssuedTokens> {
    const form = readForm(request);
    const grantType = required(form, 'grant_type');
    const clientId = required(form, 'client_id');
    const resource = form.get('resource');
    if (grantType === 'authorization_code') {
      return this.tokens.exchange({
        ...{ code: required(form, 'code'), redirectUri: required(form, 'redirect_uri'), clientId, resource },
        verifier: required(form, 'code_verifier'),
      });
    }
    if (grantType === 'refresh_token') {
      const refreshToken = required(form, 'refresh_token');
      return this.tokens.refresh({ refreshToken, clientId, resource, scope: form.get('scope') });
    }
    throw new OAuthError('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token');
  }

  @Post('revoke')
  @OAuthFormAccess()
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  async revoke(@Req() request: FastifyRequest): Promise<void> {
    const form = readForm(request);
    const token = required(form, 'token');
    await this.tokens.revoke(token, required(form, 'client_id'));
  }
}

/** @throws OAuthError another media type, a repeated parameter, or a client that sends a secret. */
function readForm({ body, headers }: FastifyRequest): SingleParameters {
  if (!(body instanceof RawBody) || body.contentType.split(';')[0]?.trim().toLowerCase() !== FORM_TYPE) {
    throw new OAuthError('invalid_request', `Content-Type must be ${FORM_TYPE}`);
  }
  const form = SingleParameters.of(new URLSearchParams(body.bytes.toString('utf8')));
  if ('repeated' in form) throw new OAuthError('invalid_request', 'a parameter is given twice');
  if (headers.authorization !== undefined) {
    const challenge = { 'www-authenticate': 'Basic realm="oauth"' };
    throw new OAuthError('invalid_client', 'only public clients are supported: send client_id in the form', challenge);
  }
  if (form.get('client_secret') !== undefined || form.get('client_assertion') !== undefined) {
    throw new OAuthError('invalid_client', 'only public clients are supported: send no client_secret or assertion');
  }
  return form;
}

function required(form: SingleParameters, name: string): string {
  const value = form.get(name);
  if (value === undefined) throw new OAuthError('invalid_request', `${name} is missing`);
  if (!isStorableText(value)) throw new OAuthError('invalid_request', `${name} holds characters that cannot be stored`);
  return value;
}
