import { displayText } from '../../common/errors/display-text.rules.js';
import { invalidRequest } from '../../common/errors/gateway-error.js';
import type { Table } from '../../common/fields/config-values.js';
import { memberPath } from '../../common/fields/config-values.js';
import { type ApiStyle, classifyPath, type EndpointStyle } from '../../upstreams/api-style.rules.js';
import type { ProviderType } from '../../upstreams/provider-types.js';
import type { AppConfig } from './app-config.js';
import { referencedProviders } from './app-summary.rules.js';
import type { EndpointTarget } from './endpoints-config.js';
import { allowedPathOf } from './provider-policy.rules.js';
import type { SelectedProvider } from './routing-config.js';

/** A provider instance of the account, possibly disabled. */
export interface KnownProvider {
  readonly id: string;
  readonly slug: string;
  readonly type: ProviderType;
  readonly status: 'active' | 'disabled';
  /** The named-endpoint styles that its type and route support. */
  readonly endpointStyles: readonly EndpointStyle[];
  /** The API styles that its type and route support. */
  readonly apiStyles: readonly ApiStyle[];
}

/** The account's providers and what they can price. */
export interface KnownProviders {
  /** Every instance of the account. */
  readonly all: readonly KnownProvider[];
  /** Whether a call can be priced: by the catalog, by the instance's custom prices, or by a reported cost. */
  isBillable(provider: KnownProvider, model: string, styles?: readonly ApiStyle[]): boolean;
  /** Whether any provider type or instance can price the model. */
  isBillableAnywhere(model: string): boolean;
}

const API_STYLE_OF: Readonly<Record<EndpointStyle, ApiStyle>> = {
  responses: 'responses',
  transcription: 'audio_transcription',
};

/**
 * Checks the references of a configuration: selected providers and endpoint targets exist, support the required style,
 * and every named model has a price.
 *
 * @param stored the configuration being replaced or checked again. A provider that it already names may be missing; its
 *   checks are skipped. A new application has no such exemption.
 * @throws invalid_request naming the first invalid place.
 * Source: docs/reference/management-api.md#references-to-providers-and-models,
 * docs/reference/management-api.md#endpoint-configuration.
 */
export function checkReferences(config: AppConfig, known: KnownProviders, stored?: AppConfig): void {
  const references: References = { config, known, graced: new Set(stored ? referencedProviders(stored) : []) };
  checkSelectedProviders(references);
  checkModelRewrites(references);
  checkEndpoints(references);
}

interface References {
  readonly config: AppConfig;
  readonly known: KnownProviders;
  /** Slugs and types that may be missing, because the stored configuration already names them. */
  readonly graced: ReadonlySet<string>;
}

function checkSelectedProviders(references: References): void {
  const { providers } = references.config.routing;
  if (providers.mode === 'all') return;
  for (const [key, policy] of Object.entries(providers.selected)) {
    const path = memberPath('config.routing.providers.selected', key);
    const instances = instancesUnder(key, providers.selected, references.known.all);
    if (instances.length > 0) checkPolicyModels(references, instances, policy, path);
    else if (!references.graced.has(key)) throw invalidRequest(path, 'is not a provider of this account');
  }
}

/**
 * The instances that a key of `selected` governs: the one with that slug, and those of that type without a key of their
 * own. If every instance of a type has its own key, the type key applies to future instances and is checked against the
 * present ones.
 */
function instancesUnder(
  key: string,
  selected: Table<SelectedProvider>,
  all: readonly KnownProvider[],
): readonly KnownProvider[] {
  const named = all.filter(({ slug, type }) => slug === key || type === key);
  const covered = named.filter(({ slug }) => slug === key || selected[slug] === undefined);
  return covered.length > 0 ? covered : named;
}

/** A type key needs the price on one instance; a call to an instance without it is refused at call time. */
function checkPolicyModels(
  { config, known }: References,
  instances: readonly KnownProvider[],
  policy: SelectedProvider,
  path: string,
): void {
  const paths = policy.allowed_paths.map(allowedPathOf);
  const pathStyles = new Set(paths.map((allowed) => classifyPath(allowed.path)));
  const stylesOf = ({ apiStyles }: KnownProvider) =>
    paths.length === 0 ? apiStyles : apiStyles.filter((style) => pathStyles.has(style));
  const requirePrice = (model: string, modelPath: string) => {
    const canonical = config.routing.model_rewrites[model] ?? model;
    const priced = instances.some((provider) => known.isBillable(provider, canonical, stylesOf(provider)));
    if (!priced) throw unpriced(modelPath, canonical);
  };
  for (const [index, { fixedModel }] of paths.entries()) {
    if (fixedModel !== undefined) requirePrice(fixedModel, `${path}.allowed_paths.${index}.fixed_model`);
  }
  for (const [index, model] of policy.allowed_models.entries()) requirePrice(model, `${path}.allowed_models.${index}`);
}

function checkModelRewrites({ config, known }: References): void {
  for (const [model, replacement] of Object.entries(config.routing.model_rewrites)) {
    if (known.isBillableAnywhere(replacement)) continue;
    throw unpriced(memberPath('config.routing.model_rewrites', model), replacement);
  }
}

function checkEndpoints(references: References): void {
  for (const [slug, endpoint] of Object.entries(references.config.endpoints)) {
    const path = memberPath('config.endpoints', slug);
    checkTarget(references, endpoint, endpoint.api_style, path);
    for (const [index, fallback] of endpoint.fallback.entries()) {
      checkTarget(references, fallback, endpoint.api_style, `${path}.fallback.${index}`);
    }
  }
}

/** Unlike a selection, a target names exactly one instance by slug. */
function checkTarget({ known, graced }: References, target: EndpointTarget, style: EndpointStyle, path: string): void {
  const provider = known.all.find(({ slug }) => slug === target.provider);
  if (provider === undefined) {
    if (graced.has(target.provider)) return;
    throw invalidRequest(`${path}.provider`, 'is not a provider of this account');
  }
  if (!provider.endpointStyles.includes(style)) {
    throw invalidRequest(`${path}.provider`, `cannot serve endpoints of style "${style}"`);
  }
  if (!known.isBillable(provider, target.model, [API_STYLE_OF[style]])) throw unpriced(`${path}.model`, target.model);
}

function unpriced(path: string, model: string) {
  return invalidRequest(path, `${displayText(model)} has no price; add custom pricing to the provider`);
}
