import { type JsonObject, objectIn, textIn } from './json-fields.rules.js';

const MAX_NAME_LENGTH = 64;

/** Lower-case names of the tier that price lists apply to. `auto`: the provider has not reported the tier. */
const STANDARD_TIERS: ReadonlySet<string> = new Set([
  ...['standard', 'default', 'auto', 'standard_only', 'on_demand', 'unspecified', 'traffic_type_unspecified'],
  ...['service_tier_standard', 'service_tier_unspecified'],
]);
/** Inference locations without a surcharge. */
const NORMAL_PLACES: ReadonlySet<string> = new Set(['global', 'not_available']);

/** Members that affect the price, with the lower-case values that mean the standard price. */
const TIER_MEMBERS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['service_tier', STANDARD_TIERS],
  ['service_tier_used', STANDARD_TIERS],
  ['serviceTier', STANDARD_TIERS],
  ['trafficType', STANDARD_TIERS],
  ['speed', STANDARD_TIERS],
  ['inference_geo', NORMAL_PLACES],
]);

/**
 * Returns the service tier that an answer or stream event names, unless it is the standard tier. Looks at the root, in
 * the wrapped response or message, and in the usage. Undefined: the standard tier, or none named.
 */
export function otherTierOf(document: JsonObject): string | undefined {
  const response = objectIn(document, 'response');
  const message = objectIn(document, 'message');
  const places = [
    ...[document, response, objectIn(document, 'usage'), objectIn(response, 'usage')],
    ...[objectIn(message, 'usage'), objectIn(document, 'usageMetadata')],
  ];
  for (const place of places) {
    if (place === undefined) continue;
    const tier = otherTierIn(place);
    if (tier !== undefined) return tier;
  }
  return undefined;
}

function otherTierIn(place: JsonObject): string | undefined {
  for (const [name, standard] of TIER_MEMBERS) {
    const tier = textIn(place, name, MAX_NAME_LENGTH);
    if (tier !== undefined && tier !== '' && !standard.has(tier.toLowerCase())) return tier;
  }
  return undefined;
}
