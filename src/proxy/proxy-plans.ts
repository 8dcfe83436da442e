import { Injectable } from '@nestjs/common';
import type { ProviderAccess } from '../app-directory/app-snapshot.js';
import type { Caller } from '../client-auth/callers/caller.js';
import { displayText } from '../common/errors/display-text.rules.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { Reason } from '../common/errors/reasons.js';
import { ProviderDirectory } from '../providers/provider-directory.js';
import type { ProviderInstance } from '../providers/provider-instance.js';
import { classifyPath } from '../upstreams/api-style.rules.js';
import { matchPath, type PathMatch, takesBody } from '../upstreams/path-policy.rules.js';
import { PROVIDER_SLUG } from '../upstreams/provider-types.js';
import { validateQuery } from '../upstreams/query-policy.rules.js';
import { type CallPlan, type CallTarget, requireActiveProvider } from './provider-choice.rules.js';
import type { ProxyPath } from './proxy-path.rules.js';

/** Target of a call and the application's policy there; determined before the body is read. */
export interface ProxyPlan extends CallTarget, CallPlan {
  readonly endpointSlug: null;
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
  async forCall(caller: Caller, address: ProxyPath, method: string): Promise<ProxyPlan> {
    const { providerSlug, path } = address;
    if (!PROVIDER_SLUG.test(providerSlug))
      throw notAllowed('provider_slug_invalid', 'The provider in the path is not a slug.');
    if (path === '') throw notAllowed('path_empty', 'The path names a provider, but no path to call there.');
    const providers = await this.providers.forOrganization(caller.app.organizationId);
    const provider = requireActiveProvider(providers, providerSlug);
    return planFor(caller, provider, await provider.credentialHeaders(), { address, method });
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
  if (match === undefined) {
    throw notAllowed('path_not_in_policy', `The application does not allow the path ${displayText(path)}.`);
  }
  if (!match.methods.has(method)) {
    const allowed = [...match.methods].join(', ');
    throw notAllowed('method_not_allowed', `The application does not allow ${method} on this path; use ${allowed}.`);
  }
  const style = classifyPath(path);
  // The style determines how a body is read and billed.
  const hasBody = takesBody(method, match.template);
  if (hasBody && !provider.route.apiStyles.includes(style)) {
    throw new GatewayError('api_style_not_supported', {
      message: `${provider.dialect.label} does not serve ${style} requests.`,
    });
  }
  return {
    ...{ endpointSlug: null, provider, access, match, method, takesBody: hasBody },
    ...{ style, path, query: validateQuery(query), credential },
  };
}

function notAllowed(reason: Reason, message: string): GatewayError {
  return new GatewayError('path_not_allowed', { reason, message });
}
