import { ApiExtraModels, ApiProperty, ApiSchema, getSchemaPath } from '@nestjs/swagger';

/** A model name of the provider. */
export const MODEL_NAME = { type: 'string', minLength: 1, maxLength: 200 } as const;

const PROVIDER_SLUG = { type: 'string', pattern: '^[a-z0-9][a-z0-9-]{0,62}$' } as const;

@ApiSchema({ name: 'AppEndpointTarget' })
class EndpointTargetSchema {
  @ApiProperty({ ...PROVIDER_SLUG, description: 'Slug of a provider.' })
  provider: string;

  @ApiProperty({ ...MODEL_NAME, description: 'Must have a price.' })
  model: string;
}

function Fallback(): PropertyDecorator {
  return ApiProperty({
    type: [EndpointTargetSchema],
    maxItems: 10,
    required: false,
    description: 'Tried in order when the provider fails before the first byte.',
  });
}

@ApiSchema({ name: 'AppResponsesEndpoint' })
class ResponsesEndpointSchema extends EndpointTargetSchema {
  @ApiProperty({ type: 'string', enum: ['responses'] })
  api_style: 'responses';

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    selfRequired: false,
    description: 'Merged over the client’s body; wins at every depth.',
  })
  params?: object;

  @ApiProperty({
    type: 'integer',
    minimum: 1,
    required: false,
    description: 'A client value above it is refused, a missing one is filled in.',
  })
  max_output_tokens?: number;

  @Fallback()
  fallback?: EndpointTargetSchema[];
}

@ApiSchema({ name: 'AppTranscriptionEndpoint' })
class TranscriptionEndpointSchema extends EndpointTargetSchema {
  @ApiProperty({ type: 'string', enum: ['transcription'] })
  api_style: 'transcription';

  @Fallback()
  fallback?: EndpointTargetSchema[];
}

/** A named endpoint of either style. The class that uses it needs {@link WithNamedEndpoints}. */
export const NAMED_ENDPOINT = {
  oneOf: [{ $ref: getSchemaPath(ResponsesEndpointSchema) }, { $ref: getSchemaPath(TranscriptionEndpointSchema) }],
};

/** Adds the schemas of {@link NAMED_ENDPOINT} to the document. */
export const WithNamedEndpoints = (): ClassDecorator =>
  ApiExtraModels(ResponsesEndpointSchema, TranscriptionEndpointSchema);
