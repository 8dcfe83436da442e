import { type GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';
import type { ApiStyle } from '../../upstreams/api-style.rules.js';
import { isFilled, isNamed, memberValue, type ScannedBody } from '../json/json-members.js';
import { listHostedTools } from './hosted-tools.rules.js';

/** Members that detach the work from the request: its answer, with the usage, would be fetched later. */
const DETACHED = ['background', 'deferred'];
/** What `background` says of a picture that is made, on paths without a style of their own. */
const PICTURE_BACKGROUNDS: ReadonlySet<unknown> = new Set(['transparent', 'opaque', 'auto']);
/** Tiers at the price we know, or cheaper, by the names that providers give them. */
const NORMAL_TIERS = new Set(['auto', 'default', 'standard', 'standard_only', 'on_demand', 'flex']);
/** Members by which a body has other models work than the one that was judged and priced. */
const OTHER_MODELS = ['fallbacks', 'compound_custom', 'svg'];
const GENERATION_CONFIGS = ['generationConfig', 'generation_config'];
const MODEL_ROUTING = ['routingConfig', 'routing_config', 'modelSelectionConfig', 'model_selection_config'];
/** Members that choose a price other than the one we know, with the text values that do not. */
const PRICE_MEMBERS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['service_tier', NORMAL_TIERS],
  ['serviceTier', NORMAL_TIERS],
  ['speed', new Set(['standard'])],
  ['inference_geo', new Set(['global'])],
]);

function refuseDetached({ bytes, root }: ScannedBody, style: ApiStyle): void {
  for (const name of DETACHED) {
    const member = root.members.get(name);
    if (!isNamed(bytes, member)) continue;
    const value = memberValue(bytes, member, name);
    if (value === true) throw invalidRequest(name, 'requests that run in the background are not supported');
    if (style === 'other' && name === 'background' && PICTURE_BACKGROUNDS.has(value)) continue;
    if (value !== false) throw invalidRequest(name, 'must be true or false');
  }
}

function refuseDearerPrices({ bytes, root }: ScannedBody): void {
  for (const [name, allowed] of PRICE_MEMBERS) {
    const member = root.members.get(name);
    if (!isNamed(bytes, member)) continue;
    const value = memberValue(bytes, member, name);
    // Speech styles have a numeric `speed`, which changes no price.
    if (name === 'speed' && typeof value === 'number') continue;
    if (typeof value === 'string' && allowed.has(value)) continue;
    throw invalidRequest(name, `cannot be priced; allowed are ${[...allowed].join(', ')}`);
  }
}

function refuseOtherModels({ bytes, root }: ScannedBody): void {
  for (const name of OTHER_MODELS) {
    if (isFilled(bytes, root.members.get(name))) throw otherModels(name);
  }
  for (const parent of GENERATION_CONFIGS) {
    const config = root.members.get(parent)?.nested;
    for (const name of MODEL_ROUTING) {
      if (isFilled(bytes, config?.members.get(name))) throw otherModels(`${parent}.${name}`);
    }
  }
}

function otherModels(path: string): GatewayError {
  return invalidRequest(path, 'cannot be used through the gateway: it brings in models that were not priced');
}

/**
 * Refuses what cannot be priced: work detached from the request, and tiers dearer than the price we know.
 *
 * @returns types of the tools the provider runs itself, which cost beside the tokens.
 * @throws invalid_request
 * Source: docs/reference/application-api.md#refused-members.
 */
export function judgeCosts(body: ScannedBody, style: ApiStyle): readonly string[] {
  refuseDetached(body, style);
  refuseDearerPrices(body);
  refuseOtherModels(body);
  return listHostedTools(body, style);
}
