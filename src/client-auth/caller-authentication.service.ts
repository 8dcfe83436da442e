import { Injectable } from '@nestjs/common';
import { AppDirectoryService } from '../app-directory/app-directory.service.js';
import { type AppSnapshot, type ReadableApp, requireReadable } from '../app-directory/app-snapshot.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { appVersionOf, type GatewayRequest } from '../common/http/gateway-request.js';
import { AppKeyDirectory } from '../keys/app-key-directory.js';
import { ProviderDirectory } from '../providers/provider-directory.js';
import type { Caller } from './caller.js';
import { requireCredential, requireNamedUser, type SentCredential } from './caller-credential.rules.js';

const AUTHORIZATION = ['authorization'];

/** Where a call is addressed; decides which headers may carry its credential. */
export interface CallAddress {
  readonly appId: string;
  /** Slug of the provider, on proxy routes. */
  readonly providerSlug?: string;
}

/** Proves callers of the application routes, in the order of contract-app 1.2. Warm, it asks no database. */
@Injectable()
export class CallerAuthentication {
  constructor(
    private readonly apps: AppDirectoryService,
    private readonly keys: AppKeyDirectory,
    private readonly providers: ProviderDirectory,
  ) {}

  /**
   * @throws app_not_found, internal_error (configuration unreadable), app_disabled, auth_required, invalid_request
   * (end-user header); see contract-app 1.2, steps 1 to 6.
   */
  async authenticate(request: GatewayRequest, address: CallAddress): Promise<Caller> {
    const app = await this.requireActiveApp(address.appId);
    const headers = request.raw.headers;
    const credential = requireCredential(headers, await this.credentialHeaders(app, address.providerSlug));
    const userId = app.userHeader === undefined ? null : requireNamedUser(headers, app.userHeader);
    const apiKeyId = await this.requireAppKey(app, credential);
    return {
      app,
      userId,
      apiKeyId,
      authMethod: 'api_key',
      appVersion: appVersionOf(request) ?? null,
      credentialHeader: credential.header,
    };
  }

  private async requireActiveApp(appId: string): Promise<ReadableApp> {
    const found = this.apps.find(appId);
    const snapshot: AppSnapshot | undefined = found instanceof Promise ? await found : found;
    if (snapshot === undefined) throw new GatewayError('app_not_found');
    const app = requireReadable(snapshot);
    if (app.status !== 'active') throw new GatewayError('app_disabled');
    return app;
  }

  /** `Authorization`, then the header in which the addressed provider's own SDK sends its key, then the app's own. */
  private async credentialHeaders(app: ReadableApp, slug: string | undefined): Promise<readonly string[]> {
    if (slug === undefined && app.tokenHeader === undefined) return AUTHORIZATION;
    const names = [...AUTHORIZATION];
    if (slug !== undefined) {
      const found = this.providers.forOrganization(app.organizationId);
      const provider = (found instanceof Promise ? await found : found).find(slug);
      if (provider && provider.dialect.credentialHeader !== 'authorization')
        names.push(provider.dialect.credentialHeader);
    }
    if (app.tokenHeader !== undefined) names.push(app.tokenHeader);
    return names;
  }

  /** Only an API-key application without issuer takes the key itself (contract-app 4.2). */
  private async requireAppKey(app: ReadableApp, credential: SentCredential): Promise<string> {
    if (app.userSource === 'issuer' || app.userSource === 'app_install') {
      throw new GatewayError('auth_required', {
        message: 'This application takes gateway tokens only.',
        reason: 'gateway_token_required',
      });
    }
    const found = this.keys.find(credential.value);
    const key = found instanceof Promise ? await found : found;
    if (key === undefined || key.appId !== app.id || key.status !== 'active') {
      throw new GatewayError('auth_required', { message: 'The API key is not valid.', reason: 'app_key_invalid' });
    }
    return key.id;
  }
}
