import type { AppConfig } from '../../app-directory/config/app-config.js';
import type { KnownProvider } from '../../app-directory/config/app-references.rules.js';
import type { ResponsesEndpoint } from '../../app-directory/config/endpoints-config.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { memberPath } from '../../common/fields/config-values.js';
import type { CompiledPrice } from '../../pricing/model-price.js';
import type { ProviderRoute } from '../../upstreams/routes/provider-route.js';
import { validateModelAlternatives } from '../body/body-models.rules.js';
import { type RequestedWork, validateCostMembers } from '../body/cost-members.rules.js';
import { gatewayOptionEdits } from '../body/gateway-options.rules.js';
import { responseReferences } from '../body/kept-objects.rules.js';
import { validateOutputCap } from '../body/output-cap.rules.js';
import { pricedTier } from '../body/service-tier.rules.js';
import { compileMembers } from '../json/json-merge.js';
import { mergeMembers, scanBody } from '../json/json-scan.js';
import type { ScannedBody } from '../json/scanned-body.js';

/** A provider instance of the account, as far as it determines the valid `params`. */
interface ParamsTarget extends Pick<KnownProvider, 'slug' | 'type'> {
  /** Undefined for a route that this version does not support. */
  readonly routeKind: ProviderRoute['kind'] | undefined;
}

/** The providers of an account and their prices. */
export interface ParamsTargets {
  readonly all: readonly ParamsTarget[];
  /** The price of a model at one of them today; undefined: only the provider has it. */
  priceOf(provider: ParamsTarget, model: string): CompiledPrice | undefined;
}

const EMPTY_BODY = Buffer.from('{}');
/** Message prefix of a refusal of the whole body. */
const BODY = 'body:';
const NO_MODELS: ReadonlySet<string> = new Set();

/**
 * Validates the `params` of every named endpoint by the rules of a call. They override client members, so a refusal of
 * `params` alone would affect every call.
 *
 * @param account targets that it does not have are not validated.
 * @throws invalid_request naming the member.
 * Source: docs/reference/management-api.md#endpoint-configuration.
 */
export async function validateEndpointParams(config: AppConfig, account: ParamsTargets): Promise<void> {
  for (const [slug, endpoint] of Object.entries(config.endpoints)) {
    if (endpoint.api_style !== 'responses') continue;
    const members = compileMembers(endpoint.params);
    if (members.size === 0) continue;
    const path = `${memberPath('config.endpoints', slug)}.params`;
    const body = await refusedAt(path, () => scanBody(mergeMembers(EMPTY_BODY, members)));
    const { tier } = await refusedAt(path, () => validateForAll(body, endpoint));
    for (const { provider, model } of [endpoint, ...endpoint.fallback]) {
      const target = account.all.find(({ slug: known }) => known === provider);
      if (target === undefined) continue;
      await refusedAt(path, () => validateForTarget(body, target));
      await refusedAt(path, () => pricedTier(tier, account.priceOf(target, model)));
    }
  }
}

function validateForAll(body: ScannedBody, { max_output_tokens: cap }: ResponsesEndpoint): RequestedWork {
  const requested = validateCostMembers(body, 'responses');
  responseReferences(body);
  validateOutputCap(body, { style: 'responses', cap, chatField: 'max_tokens' });
  return requested;
}

function validateForTarget(body: ScannedBody, { type, routeKind }: ParamsTarget): void {
  if (routeKind === undefined) return;
  validateModelAlternatives(body, { type, routeKind, allowedModels: NO_MODELS });
  gatewayOptionEdits(body, { kind: routeKind, providerOnly: null });
}

/** Prefixes refusals with `path`: body rules start their message with the member path from the root of a body. */
async function refusedAt<T>(path: string, validate: () => T | Promise<T>): Promise<T> {
  try {
    return await validate();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { message, reason } = error;
    const named = message.startsWith(BODY) ? path + message.slice(BODY.length - 1) : `${path}.${message}`;
    throw new GatewayError('invalid_request', { message: named, reason });
  }
}
