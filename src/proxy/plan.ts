import { Injectable } from '@nestjs/common';
import type { ProviderAccess } from '../app-directory/app-snapshot.js';
import type { Caller } from '../client-auth/caller.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { type Ready, whenReady } from '../common/when-ready.js';
import { ProviderDirectory } from '../providers/provider-directory.js';
import type { ProviderInstance } from '../providers/provider-instance.js';
import { classifyPath } from '../upstreams/api-style.rules.js';
import { takesBody } from '../upstreams/path-methods.rules.js';
import { matchPath, type PathMatch } from '../upstreams/path-policy.rules.js';
import { judgeQuery } from '../upstreams/query-policy.rules.js';
import { type CallTarget, requireActiveProvider } from './provider-choice.rules.js';
import type { ProxyPath } from './proxy-path.rules.js';

const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Target of a call and the application's policy there; determined before the body is read. */
export interface ProxyPlan extends CallTarget {
  readonly method: string;
  readonly access: ProviderAccess;
  readonly match: PathMatch;
  /** As sent, without question mark; may be empty. */
  readonly query: string;
}

/** Plans proxied calls. Order: address, provider, path, method, API style, query. */
@Injectable()
export class ProxyPlans {
  constructor(private readonly providers: ProviderDirectory) {}

  /**
   * @throws path_not_allowed, provider_not_configured, provider_disabled, provider_unavailable,
   *   api_style_not_supported, invalid_request (an invalid escape in the path's model, or the query).
   */
  forCall(caller: Caller, address: ProxyPath, method: string): Ready<ProxyPlan> {
    const { providerSlug, path } = address;
    if (!SLUG.test(providerSlug)) throw notAllowed('provider_slug_invalid', 'The provider in the path is not a slug.');
    if (path === '') throw notAllowed('path_empty', 'The path names a provider, but nothing to call there.');
    return whenReady(this.providers.forOrganization(caller.app.organizationId), (providers) => {
      const provider = requireActiveProvider(providers, providerSlug);
      return whenReady(provider.credentialHeaders(), (credential) =>
        planFor(caller, provider, credential, { address, method }),
      );
    });
  }
}

function planFor(
  { app }: Caller,
  provider: ProviderInstance,
  credential: readonly string[],
  { address: { path, query }, method }: { readonly address: ProxyPath; readonly method: string },
): ProxyPlan {
  const access = app.accessTo(provider);
  if (access === undefined) {
    throw notAllowed('provider_not_in_policy', `The application does not allow the provider "${provider.slug}".`);
  }
  const match = matchPath(access.paths, path);
  if (match === undefined) throw notAllowed('path_not_in_policy', 'The application does not allow this path.');
  if (!match.methods.has(method)) {
    const allowed = [...match.methods].join(', ');
    throw notAllowed('method_not_allowed', `The application does not allow ${method} on this path; use ${allowed}.`);
  }
  const style = classifyPath(path);
  // The style determines how a body is read and billed.
  if (takesBody(method) && !provider.route.apiStyles.includes(style)) {
    throw new GatewayError('api_style_not_supported', {
      message: `${provider.dialect.label} does not serve ${style} requests.`,
    });
  }
  return { provider, access, match, method, style, path, query: judgeQuery(query), credential };
}

function notAllowed(reason: string, message: string): GatewayError {
  return new GatewayError('path_not_allowed', { reason, message });
}
