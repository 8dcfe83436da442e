import { Body, Controller, Header, HttpCode, Param, Post, Req, UseGuards } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiOkResponse, ApiParam, getSchemaPath } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { PublicAccess } from '../../common/http/access.js';
import { appVersionOf } from '../../common/http/gateway-request.js';
import { AppVersionHeader, Fails, Operation } from '../../common/http/openapi.decorators.js';
import { BodyLimit } from '../../common/http/raw-body.js';
import { AddressLimited } from '../../platform/address-limits/address-limit.guard.js';
import { VaryingAnswersGuard } from '../origins/varying-answers.guard.js';
import { AuthAttempts } from './auth-attempts.js';
import { DeviceChallengeService, DeviceRegistrationService } from './device-registration.service.js';
import {
  ExchangeApiKeyRequest,
  ExchangeInstallRequest,
  ExchangeSignedInstallRequest,
  ExchangeSignedUserDeviceRequest,
  ExchangeUserDeviceRequest,
  RegisterAndroidInstallRequest,
  RegisterAndroidUserDeviceRequest,
  RegisterInstallRequest,
  RegisterPlayInstallRequest,
  RegisterPlayUserDeviceRequest,
  RegisterUserDeviceRequest,
} from './dto/auth.request.js';
import { ChallengeResponse, GatewayTokenResponse, RegistrationResponse } from './dto/auth.response.js';
import { TokenExchangeService } from './token-exchange.service.js';

const TAG = 'Application authentication';
/** Fits the longest identity token and proof, each character escaped once. */
const MAX_BODY_BYTES = 256 * 1024;
const REGISTRATIONS = [
  RegisterUserDeviceRequest,
  RegisterInstallRequest,
  RegisterAndroidUserDeviceRequest,
  RegisterAndroidInstallRequest,
  RegisterPlayUserDeviceRequest,
  RegisterPlayInstallRequest,
];
const EXCHANGES = [
  ExchangeUserDeviceRequest,
  ExchangeInstallRequest,
  ExchangeSignedUserDeviceRequest,
  ExchangeSignedInstallRequest,
  ExchangeApiKeyRequest,
];

/** The error codes of both kinds of proof, besides an unsupported authentication method. */
const PROOF_REFUSALS = [
  'invalid_request',
  'app_not_found',
  'app_disabled',
  'issuer_token_rejected',
  'issuer_claims_missing',
  'issuer_verification_unavailable',
  'auth_required@403',
  'attest_failed',
  'app_version_too_old',
  'internal_error',
  'service_unavailable',
] as const;

/** A JSON object of one of several shapes. The configuration selects the shape, so validation is later. */
type SentBody = Record<string, unknown>;

@Controller('v1/apps/:app/auth')
@ApiParam({ name: 'app', description: 'Id of the application.', schema: { type: 'string' } })
@AppVersionHeader()
@ApiExtraModels(...REGISTRATIONS, ...EXCHANGES)
export class AppAuthController {
  constructor(
    private readonly attempts: AuthAttempts,
    private readonly challenges: DeviceChallengeService,
    private readonly registrations: DeviceRegistrationService,
    private readonly exchanges: TokenExchangeService,
  ) {}

  @Post('challenge')
  @PublicAccess()
  @UseGuards(VaryingAnswersGuard)
  @AddressLimited('app_auth_challenge')
  @BodyLimit(MAX_BODY_BYTES)
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @Operation({
    id: 'createAppAttestChallenge',
    tag: TAG,
    summary: 'Get a challenge for a device to sign',
    description: 'Valid once, for five minutes, for this application. A body is ignored.',
  })
  @Fails(
    'invalid_request',
    'app_not_found',
    'app_disabled',
    'auth_method_not_supported',
    'internal_error',
    'service_unavailable',
  )
  @ApiOkResponse({ type: ChallengeResponse })
  async challenge(@Param('app') appId: string): Promise<ChallengeResponse> {
    return ChallengeResponse.from(await this.challenges.issue(appId));
  }

  @Post('register')
  @PublicAccess()
  @UseGuards(VaryingAnswersGuard)
  @AddressLimited('app_auth_register')
  @BodyLimit(MAX_BODY_BYTES)
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @Operation({
    id: 'registerAppAttestKey',
    tag: TAG,
    summary: 'Register a device',
    description:
      'App Attest: the device signs the SHA-256 of the 32 bytes that the challenge encodes. Android key attestation: these bytes are the attestation challenge of a new key. Play Integrity: `requestHash` or `nonce` of the token is base64url of the SHA-256 of the text that an exchange signs. `proof` names the proof; absent, it is `app_attest`, and an application of App Attest alone ignores it. `issuer_token` is required where users sign in, and refused elsewhere. Unknown members are ignored.',
  })
  @ApiBody({ schema: { anyOf: REGISTRATIONS.map((type) => ({ $ref: getSchemaPath(type) })) } })
  @Fails('auth_method_not_supported', 'auth_method_not_supported@400', ...PROOF_REFUSALS)
  @ApiOkResponse({ type: RegistrationResponse })
  async register(
    @Param('app') appId: string,
    @Body() body: SentBody,
    @Req() request: FastifyRequest,
  ): Promise<RegistrationResponse> {
    const attempted = { event: 'register' as const, appId, appVersion: appVersionOf(request) ?? null };
    return RegistrationResponse.from(
      await this.attempts.run(attempted, (app, attempt) => this.registrations.register(app, body, attempt)),
    );
  }

  @Post('token')
  @PublicAccess()
  @UseGuards(VaryingAnswersGuard)
  @AddressLimited('app_auth_token')
  @BodyLimit(MAX_BODY_BYTES)
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @Operation({
    id: 'exchangeGatewayToken',
    tag: TAG,
    summary: 'Exchange a proof for a gateway token',
    description:
      'By application: a device’s assertion or signature, with `issuer_token` where users sign in; or an API key with `issuer_token`. An assertion signs the SHA-256 of this text, a signature the text itself: `{"app":"<app>","challenge":"<challenge>","key_id":"<key_id>"}`: these members in this order, no blanks, `/` not escaped.',
  })
  @ApiBody({ schema: { anyOf: EXCHANGES.map((type) => ({ $ref: getSchemaPath(type) })) } })
  @Fails('auth_method_not_supported@400', ...PROOF_REFUSALS)
  @ApiOkResponse({ type: GatewayTokenResponse })
  async token(
    @Param('app') appId: string,
    @Body() body: SentBody,
    @Req() request: FastifyRequest,
  ): Promise<GatewayTokenResponse> {
    const attempted = { event: 'token_exchange' as const, appId, appVersion: appVersionOf(request) ?? null };
    return GatewayTokenResponse.from(
      await this.attempts.run(attempted, (app, attempt) => this.exchanges.exchange(app, body, attempt)),
    );
  }
}
