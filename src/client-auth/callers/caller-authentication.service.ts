import { Injectable } from '@nestjs/common';
import { AppDirectoryService } from '../../app-directory/app-directory.service.js';
import { type AppSnapshot, type ReadableApp, requireActive } from '../../app-directory/app-snapshot.js';
import type { AppKey } from '../../app-keys/app-key.entity.js';
import { refusalReason } from '../../app-keys/app-key.rules.js';
import { AppKeyDirectory } from '../../app-keys/app-key-directory.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { appVersionOf, type GatewayRequest } from '../../common/http/gateway-request.js';
import type { MaybePromise } from '../../common/maybe-promise.js';
import { ProviderDirectory } from '../../providers/provider-directory.js';
import type { Caller, CallerNeeds } from './caller.js';
import { findCredential, requireCredential, requireNamedUser, type SentCredential } from './caller-credential.rules.js';
import { refuseKeyForToken, requireClaimsFor, takesGatewayTokens } from './gateway-token.rules.js';
import { GatewayTokens } from './gateway-tokens.js';

const AUTHORIZATION = ['authorization'];

/** The addressed application and provider; determine the accepted credential headers and the required headers. */
export interface CallAddress extends CallerNeeds {
  readonly appId: string;
  /** Slug of the provider, on proxy routes. */
  readonly providerSlug?: string;
}

/**
 * Authenticates callers of the application routes, in the order of docs/reference/application-api.md#order-of-checks.
 * On cache hits it sends no database query.
 */
@Injectable()
export class CallerAuthentication {
  constructor(
    private readonly apps: AppDirectoryService,
    private readonly keys: AppKeyDirectory,
    private readonly providers: ProviderDirectory,
    private readonly tokens: GatewayTokens,
  ) {}

  /**
   * @param found the application, if the caller has looked it up.
   * @throws app_not_found, internal_error (configuration unreadable), app_disabled, auth_required, invalid_request
   * (end-user header, application version).
   */
  async authenticate(
    request: GatewayRequest,
    address: CallAddress,
    found: MaybePromise<AppSnapshot | undefined> = this.apps.find(address.appId),
  ): Promise<Caller> {
    const app = requireActive(await found);
    const credential =
      findCredential(request.raw.headers, AUTHORIZATION) ??
      (await this.otherCredential(request, app, address.providerSlug));
    return takesGatewayTokens(app)
      ? await this.callerOfToken(request, app, credential, address)
      : await this.callerOfKey(request, app, credential);
  }

  private async callerOfKey(
    request: GatewayRequest,
    app: ReadableApp,
    { value, header }: SentCredential,
  ): Promise<Caller> {
    const userId = app.userHeader === undefined ? null : requireNamedUser(request.raw.headers, app.userHeader);
    const { id } = requireKeyOf(app, await this.keys.find(value));
    const appVersion = appVersionOf(request) ?? null;
    return {
      app,
      userId,
      apiKeyId: id,
      authMethod: 'api_key',
      appVersion,
      tokenGroups: null,
      unproven: null,
      credentialHeader: header,
    };
  }

  private async callerOfToken(
    request: GatewayRequest,
    app: ReadableApp,
    { value, header }: SentCredential,
    address: CallAddress,
  ): Promise<Caller> {
    refuseKeyForToken(value);
    const {
      userId,
      apiKeyId,
      authMethod,
      groups: tokenGroups,
      unproven,
      attestedVersion,
    } = requireClaimsFor(app, await this.tokens.validate(value));
    if (apiKeyId !== null) requireKeyOfToken(app, await this.keys.findById(apiKeyId));
    const appVersion = attestedVersion === undefined ? appVersionFor(request, address) : attestedVersion;
    return { app, userId, apiKeyId, authMethod, appVersion, tokenGroups, unproven, credentialHeader: header };
  }

  /**
   * Order of precedence after `Authorization`: the provider's native credential header, the application's token header.
   */
  private async otherCredential(
    request: GatewayRequest,
    app: ReadableApp,
    slug: string | undefined,
  ): Promise<SentCredential> {
    const { headers } = request.raw;
    const own = app.tokenHeader === undefined ? [] : [app.tokenHeader];
    if (slug === undefined) return requireCredential(headers, own);
    const providers = await this.providers.forOrganization(app.organizationId);
    const native = providers.find(slug)?.dialect.credentialHeader;
    return requireCredential(headers, native === undefined ? own : [native, ...own]);
  }
}

function isOpenKey(app: ReadableApp, key: AppKey | undefined): key is AppKey {
  return key !== undefined && key.appId === app.id && key.status === 'active';
}

function requireKeyOf(app: ReadableApp, key: AppKey | undefined): AppKey {
  if (isOpenKey(app, key)) return key;
  throw new GatewayError('auth_required', {
    message: 'The API key is not valid; send an active key of this application.',
    reason: refusalReason(app.id, key, 'app_key_invalid'),
  });
}

/** A token is invalid once its API key is. */
function requireKeyOfToken(app: ReadableApp, key: AppKey | undefined): void {
  if (isOpenKey(app, key)) return;
  throw new GatewayError('auth_required', {
    message: 'The API key behind the gateway token is no longer valid; exchange an active key.',
    reason: refusalReason(app.id, key, 'token_key_invalid'),
  });
}

/** Required with gateway tokens, because their users run a version of the application. */
function appVersionFor(request: GatewayRequest, address: CallAddress): string | null {
  const version = appVersionOf(request);
  if (version !== undefined) return version;
  if (address.appVersion === 'optional') return null;
  throw new GatewayError('invalid_request', {
    message: 'X-App-Version header is required',
    reason: 'app_version_missing',
  });
}
