import { Injectable } from '@nestjs/common';
import { AppDirectoryService } from '../app-directory/app-directory.service.js';
import { type AppSnapshot, type ReadableApp, requireReadable } from '../app-directory/app-snapshot.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { appVersionOf, type GatewayRequest } from '../common/http/gateway-request.js';
import { type Ready, whenReady } from '../common/when-ready.js';
import type { AppKey } from '../keys/app-key.js';
import { AppKeyDirectory } from '../keys/app-key-directory.js';
import { ProviderDirectory } from '../providers/provider-directory.js';
import type { Caller } from './caller.js';
import { findCredential, requireCredential, requireNamedUser, type SentCredential } from './caller-credential.rules.js';

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
   * @returns at once when application and key are in memory.
   * @throws app_not_found, internal_error (configuration unreadable), app_disabled, auth_required, invalid_request
   * (end-user header); see contract-app 1.2, steps 1 to 6.
   */
  authenticate(request: GatewayRequest, address: CallAddress): Ready<Caller> {
    return whenReady(this.apps.find(address.appId), (found) => {
      const app = requireActive(found);
      return whenReady(this.credentialOf(request, app, address.providerSlug), (credential) => {
        const userId = app.userHeader === undefined ? null : requireNamedUser(request.raw.headers, app.userHeader);
        refuseKeyWhereTokensAreNeeded(app);
        return whenReady(this.keys.find(credential.value), (key) => ({
          app,
          userId,
          apiKeyId: requireKeyOf(app, key),
          authMethod: 'api_key' as const,
          appVersion: appVersionOf(request) ?? null,
          credentialHeader: credential.header,
        }));
      });
    });
  }

  /** `Authorization`, then the header in which the addressed provider's own SDK sends its key, then the app's own. */
  private credentialOf(request: GatewayRequest, app: ReadableApp, slug: string | undefined): Ready<SentCredential> {
    const { headers } = request.raw;
    const usual = findCredential(headers, AUTHORIZATION);
    if (usual !== undefined) return usual;
    const own = app.tokenHeader === undefined ? [] : [app.tokenHeader];
    if (slug === undefined) return requireCredential(headers, own);
    return whenReady(this.providers.forOrganization(app.organizationId), (providers) => {
      const native = providers.find(slug)?.dialect.credentialHeader;
      return requireCredential(headers, native === undefined ? own : [native, ...own]);
    });
  }
}

function requireActive(found: AppSnapshot | undefined): ReadableApp {
  if (found === undefined) throw new GatewayError('app_not_found');
  const app = requireReadable(found);
  if (app.status !== 'active') throw new GatewayError('app_disabled');
  return app;
}

/** Only an API-key application without issuer takes the key itself (contract-app 4.2). */
function refuseKeyWhereTokensAreNeeded(app: ReadableApp): void {
  if (app.userSource !== 'issuer' && app.userSource !== 'app_install') return;
  throw new GatewayError('auth_required', {
    message: 'This application takes gateway tokens only.',
    reason: 'gateway_token_required',
  });
}

function requireKeyOf(app: ReadableApp, key: AppKey | undefined): string {
  if (key !== undefined && key.appId === app.id && key.status === 'active') return key.id;
  throw new GatewayError('auth_required', { message: 'The API key is not valid.', reason: 'app_key_invalid' });
}
