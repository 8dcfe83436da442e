import { type GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';
import type { ApiStyle } from '../../upstreams/api-style.rules.js';
import { isFilled, isNamed, memberValue, type ScannedBody } from '../json/json-members.js';
import { listHostedTools } from './hosted-tools.rules.js';

/** Members that make the request asynchronous: the client would fetch the answer and its usage later. */
const DETACHED = ['background', 'deferred'];
/** Values of `background` in image generation, on paths without an API style. */
const PICTURE_BACKGROUNDS: ReadonlySet<unknown> = new Set(['transparent', 'opaque', 'auto']);
/** Tiers at the list price or cheaper, by their provider names. */
const NORMAL_TIERS = new Set(['auto', 'default', 'standard', 'standard_only', 'on_demand', 'flex']);
/** Members that involve models other than the validated and priced one. */
const OTHER_MODELS = ['fallbacks', 'compound_custom', 'svg'];
const GENERATION_CONFIGS = ['generationConfig', 'generation_config'];
const MODEL_ROUTING = ['routingConfig', 'routing_config', 'modelSelectionConfig', 'model_selection_config'];
/** Members that select a price other than the list price, with the values that do not. */
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
    // Speech requests have a numeric `speed` that does not affect the price.
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
 * Refuses requests that cannot be priced: asynchronous work, tiers above the list price, and members that involve other
 * models.
 *
 * @returns types of the tools that the provider runs and charges in addition to tokens.
 * @throws invalid_request
 * Source: docs/reference/application-api.md#refused-members.
 */
export function judgeCosts(body: ScannedBody, style: ApiStyle): readonly string[] {
  refuseDetached(body, style);
  refuseDearerPrices(body);
  refuseOtherModels(body);
  return listHostedTools(body, style);
}
