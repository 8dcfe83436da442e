import { ApiSchema } from '@nestjs/swagger';
import { invalidRequest } from '../../common/errors/gateway-error.js';
import { Optional, objectOf, Refused, Required, Tag, taggedUnion } from '../../common/fields/config-fields.js';
import {
  described,
  distinctWords,
  integer,
  listOf,
  oneOf,
  type Read,
  refined,
  type Table,
  tableOf,
  text,
} from '../../common/fields/config-values.js';
import type { CapStyle } from '../../upstreams/api-style.rules.js';
import {
  PATH_METHODS,
  type PathMethod,
  PLACEHOLDER_PROBLEM,
  placeholdersIn,
} from '../../upstreams/path-policy.rules.js';
import { MAX_MODEL_LENGTH, PROVIDER_SLUG } from '../../upstreams/provider-types.js';

const SLUG_PROBLEM = 'must be a provider slug: 1 to 63 of a-z, 0-9 and -, not beginning with -';
const MAX_PATH_LENGTH = 500;
const CLAMPS = ['responses', 'chat_completions', 'gemini_native', 'anthropic', 'none'] as const satisfies CapStyle[];

export const providerSlug: Read<string> = text({ pattern: PROVIDER_SLUG, problem: SLUG_PROBLEM });

/** The name of a model, 1 to 200 characters. */
export const modelName: Read<string> = text({ max: MAX_MODEL_LENGTH });

/** The output token limit of a policy or endpoint. */
export const outputTokens: Read<number> = integer({ min: 1 });

const modelRewrites = tableOf({
  pattern: /^[\s\S]{1,200}$/,
  keyProblem: `must be a model name of 1 to ${MAX_MODEL_LENGTH} characters`,
  value: modelName,
});

/** A path as the provider receives it, without query and fragment. */
const providerPath: Read<string> = described(
  { type: 'string', minLength: 1, maxLength: MAX_PATH_LENGTH },
  refined(
    text({
      max: MAX_PATH_LENGTH,
      pattern: /^(?!\/)[!-~]+$/,
      problem: 'must be a provider path without spaces or a leading slash',
    }),
    (named, path) => {
      if (/[?#]/.test(named)) throw invalidRequest(path, 'must not have a query or a fragment');
      if (placeholdersIn(named) > 1) throw invalidRequest(path, PLACEHOLDER_PROBLEM);
      return named;
    },
  ),
);

/** A path with its own rules: its model, the location of its output limit, its methods. */
@ApiSchema({ name: 'AppAllowedPath' })
class AllowedPathRule {
  @Required(providerPath, {
    description:
      'Provider path. One `{model}` stands for a model; or one `{object}` for the id of an object that the provider keeps and the caller owns.',
  })
  readonly path: string;

  @Optional(modelName, { description: 'The model whose price applies to a path without a model.' })
  readonly fixed_model?: string;

  @Optional(oneOf(CLAMPS), {
    description: 'The body members with the output ceiling, if the path does not determine them.',
  })
  readonly clamp?: CapStyle;

  @Optional(distinctWords(PATH_METHODS, 'must not name a method twice', PATH_METHODS.length), {
    description:
      'The allowed methods. Absent: GET for lists of models, GET and DELETE for a path that ends in `{object}`, POST for every other path. A GET, a DELETE and the POST of a path that ends in `{object}/cancel` are sent without a body and cost nothing.',
  })
  readonly methods?: readonly PathMethod[];
}

/** A path, alone or with its own rules. */
export type AllowedPathEntry = string | AllowedPathRule;

const allowedPathRule = objectOf(AllowedPathRule);

const allowedPath: Read<AllowedPathEntry> = described(
  { oneOf: [{ type: 'string' }, allowedPathRule.schema] },
  (value, path) => {
    if (typeof value === 'string') return providerPath(value, path);
    if (typeof value === 'object' && value !== null) return allowedPathRule(value, path);
    throw invalidRequest(path, 'must be a path or an object with a path');
  },
  allowedPathRule.models,
);

/** The permissions for one selected provider. */
@ApiSchema({ name: 'AppSelectedProvider' })
export class SelectedProvider {
  @Required(listOf(allowedPath), { description: 'Empty: the inference paths of the provider’s type, with POST.' })
  readonly allowed_paths: readonly AllowedPathEntry[];

  @Required(listOf(modelName), { description: 'Empty: every priced model.' })
  readonly allowed_models: readonly string[];

  @Optional(outputTokens, { description: 'A client’s value above it is refused; a missing one is set to it.' })
  readonly max_output_tokens?: number;
}

@ApiSchema({ name: 'AppAllProviders' })
class AllProviders {
  @Tag('all')
  readonly mode: 'all';

  @Refused('only with mode "selected"')
  readonly selected?: undefined;
}

@ApiSchema({ name: 'AppSelectedProviders' })
class SelectedProviders {
  @Tag('selected')
  readonly mode: 'selected';

  @Required(tableOf({ pattern: PROVIDER_SLUG, keyProblem: SLUG_PROBLEM, value: objectOf(SelectedProvider) }), {
    description: 'By provider slug, else by provider type.',
  })
  readonly selected: Table<SelectedProvider>;
}

/** Every provider of the account, or those listed by slug or provider type. */
export type ProviderSelection = AllProviders | SelectedProviders;

/**
 * The providers that the proxy may reach, and model name replacements.
 *
 * Source: docs/reference/management-api.md#routing-configuration,
 * docs/reference/management-api.md#application-configuration, docs/reference/application-api.md#allowed-paths.
 */
@ApiSchema({ name: 'AppRouting' })
export class Routing {
  @Required(taggedUnion([AllProviders, SelectedProviders]), { description: 'The providers that calls may reach.' })
  readonly providers: ProviderSelection;

  /** Keyed by the name that the client sent. */
  @Required(modelRewrites, { description: 'Replacement by the model name a client sends.' })
  readonly model_rewrites: Table<string>;
}
