import { ApiExtraModels, ApiProperty, ApiSchema, getSchemaPath } from '@nestjs/swagger';
import { PATH_METHODS } from '../../upstreams/path-methods.rules.js';
import { AUTHENTICATION, WithAuthentication } from './authentication.schema.js';
import { MODEL_NAME, NAMED_ENDPOINT, WithNamedEndpoints } from './named-endpoint.schema.js';

@ApiSchema({ name: 'AppAllowedPath' })
class AllowedPathSchema {
  @ApiProperty({ type: 'string', minLength: 1, maxLength: 500, description: 'Provider path; `{model}` at most once.' })
  path: string;

  @ApiProperty({ ...MODEL_NAME, required: false, description: 'The model of a path that names none, for its price.' })
  fixed_model?: string;

  @ApiProperty({
    type: 'string',
    enum: ['responses', 'chat_completions', 'gemini_native', 'anthropic', 'none'],
    required: false,
    description: 'Which body members hold the output ceiling, when the path does not tell.',
  })
  clamp?: string;

  @ApiProperty({
    type: 'array',
    minItems: 1,
    uniqueItems: true,
    items: { type: 'string', enum: [...PATH_METHODS] },
    required: false,
    description:
      'The methods that calls may have; any other is refused. Absent: GET for lists of models, POST for every other path. A GET or DELETE is sent without a body and costs nothing.',
  })
  methods?: string[];
}

@ApiSchema({ name: 'AppSelectedProvider' })
@ApiExtraModels(AllowedPathSchema)
class SelectedProviderSchema {
  @ApiProperty({
    type: 'array',
    maxItems: 1000,
    items: { oneOf: [{ type: 'string' }, { $ref: getSchemaPath(AllowedPathSchema) }] },
    description: 'Empty: the inference paths of the provider’s type, with POST.',
  })
  allowed_paths: (string | AllowedPathSchema)[];

  @ApiProperty({ type: 'array', maxItems: 1000, items: MODEL_NAME, description: 'Empty: every priced model.' })
  allowed_models: string[];

  @ApiProperty({
    type: 'integer',
    minimum: 1,
    required: false,
    description: 'A client value above it is refused, a missing one is filled in.',
  })
  max_output_tokens?: number;
}

@ApiSchema({ name: 'AppAllProviders' })
class AllProvidersSchema {
  @ApiProperty({ type: 'string', enum: ['all'] })
  mode: 'all';
}

@ApiSchema({ name: 'AppSelectedProviders' })
@ApiExtraModels(SelectedProviderSchema)
class SelectedProvidersSchema {
  @ApiProperty({ type: 'string', enum: ['selected'] })
  mode: 'selected';

  @ApiProperty({
    type: 'object',
    additionalProperties: { $ref: getSchemaPath(SelectedProviderSchema) },
    description: 'By provider slug, else by provider type.',
  })
  selected: Record<string, SelectedProviderSchema>;
}

@ApiSchema({ name: 'AppRouting' })
@ApiExtraModels(AllProvidersSchema, SelectedProvidersSchema)
class RoutingSchema {
  @ApiProperty({
    oneOf: [{ $ref: getSchemaPath(AllProvidersSchema) }, { $ref: getSchemaPath(SelectedProvidersSchema) }],
    description: 'The providers that calls may reach.',
  })
  providers: AllProvidersSchema | SelectedProvidersSchema;

  @ApiProperty({
    type: 'object',
    additionalProperties: MODEL_NAME,
    description: 'Replacement by the model name a client sends.',
  })
  model_rewrites: Record<string, string>;
}

@ApiSchema({ name: 'AppRequestLimits' })
class RequestLimitsSchema {
  @ApiProperty({ type: 'integer', minimum: 1, nullable: true, required: false, description: 'Null: unlimited.' })
  per_minute?: number | null;

  @ApiProperty({ type: 'integer', minimum: 1, nullable: true, required: false, description: 'Per UTC day.' })
  per_day?: number | null;
}

@ApiSchema({ name: 'AppSpendingLimits' })
class SpendingLimitsSchema {
  @ApiProperty({
    type: 'number',
    minimum: 0,
    nullable: true,
    required: false,
    description: 'US dollars per UTC month, at most six decimals; null: unlimited.',
  })
  monthly_usd?: number | null;
}

@ApiSchema({ name: 'AppScopeLimits' })
class ScopeLimitsSchema {
  @ApiProperty({ type: RequestLimitsSchema, required: false })
  requests?: RequestLimitsSchema;

  @ApiProperty({ type: SpendingLimitsSchema, required: false })
  spending?: SpendingLimitsSchema;
}

@ApiSchema({ name: 'AppLimits' })
class LimitsSchema {
  @ApiProperty({ type: ScopeLimitsSchema, required: false, description: 'Only where callers have a user identity.' })
  per_user?: ScopeLimitsSchema;

  @ApiProperty({ type: ScopeLimitsSchema, required: false })
  per_app?: ScopeLimitsSchema;
}

/** Schema of the input of `parseAppConfig` and of its result, in which every default is filled in. */
@ApiSchema({ name: 'AppConfig' })
@WithAuthentication()
@WithNamedEndpoints()
class AppConfigSchema {
  @ApiProperty(AUTHENTICATION)
  authentication: object;

  @ApiProperty({ type: RoutingSchema })
  routing: RoutingSchema;

  @ApiProperty({ type: LimitsSchema, required: false })
  limits?: LimitsSchema;

  @ApiProperty({
    type: 'object',
    additionalProperties: NAMED_ENDPOINT,
    selfRequired: false,
    description: 'By slug, 1 to 64 of a-z, 0-9 and -: the last segment of the endpoint’s address.',
  })
  endpoints?: Record<string, object>;
}

/** A configuration. The class that uses it needs {@link WithAppConfig}. */
export const APP_CONFIG = { allOf: [{ $ref: getSchemaPath(AppConfigSchema) }] };

/** Adds the schema of {@link APP_CONFIG} to the document. */
export const WithAppConfig = (): ClassDecorator => ApiExtraModels(AppConfigSchema);
