import { ApiSchema } from '@nestjs/swagger';
import { Default, Optional, objectOf, Refused, Required, Tag, taggedUnion } from '../../common/fields/config-fields.js';
import { listOf, type Read, type Table, tableOf } from '../../common/fields/config-values.js';
import { type JsonObject, jsonObject } from './free-json.rules.js';
import { modelName, outputTokens, providerSlug } from './routing-config.js';
import { type StreamsConfig, streamsConfig } from './streams-config.js';

const MAX_FALLBACKS = 10;
const FALLBACK = 'Tried in order when the provider fails before the first byte.';
const NO_PARAMS: JsonObject = {};
const NO_FALLBACK: readonly EndpointTarget[] = [];

/** A provider slug and one of the provider's models. */
@ApiSchema({ name: 'AppEndpointTarget' })
export class EndpointTarget {
  @Required(providerSlug, { description: 'Slug of a provider.' })
  readonly provider: string;

  @Required(modelName, { description: 'Must have a price.' })
  readonly model: string;
}

const OWN_STREAMS = { description: 'Replaces `streams` of the application for this endpoint.' };
const fallbackTargets = listOf(objectOf(EndpointTarget), { max: MAX_FALLBACKS });

/** An endpoint of the Responses style. */
@ApiSchema({ name: 'AppResponsesEndpoint' })
export class ResponsesEndpoint extends EndpointTarget {
  @Tag('responses')
  readonly api_style: 'responses';

  /** Merged over the client's body; overrides it at every depth. */
  @Default(jsonObject, NO_PARAMS, {
    late: true,
    description: 'Merged over the client’s body; overrides it at every depth.',
  })
  readonly params: JsonObject;

  @Optional(outputTokens, {
    late: true,
    description: 'A client’s value above it is refused; a missing one is set to it.',
  })
  readonly max_output_tokens?: number;

  @Default(fallbackTargets, NO_FALLBACK, { description: FALLBACK })
  readonly fallback: readonly EndpointTarget[];

  @Optional(streamsConfig, OWN_STREAMS)
  readonly streams?: StreamsConfig;
}

/** An endpoint for audio files. */
@ApiSchema({ name: 'AppTranscriptionEndpoint' })
class TranscriptionEndpoint extends EndpointTarget {
  @Tag('transcription')
  readonly api_style: 'transcription';

  @Default(fallbackTargets, NO_FALLBACK, { description: FALLBACK })
  readonly fallback: readonly EndpointTarget[];

  @Optional(streamsConfig, OWN_STREAMS)
  readonly streams?: StreamsConfig;

  @Refused('only with api_style "responses"')
  readonly params?: undefined;

  @Refused('only with api_style "responses"')
  readonly max_output_tokens?: undefined;
}

/** A named endpoint, discriminated by `api_style`. Source: docs/reference/management-api.md#endpoint-configuration. */
export type NamedEndpoint = ResponsesEndpoint | TranscriptionEndpoint;

/**
 * Reads `endpoints`, keyed by the last segment of each endpoint's address.
 *
 * Source: docs/reference/management-api.md#application-configuration.
 */
export const endpointsConfig: Read<Table<NamedEndpoint>> = tableOf({
  pattern: /^[a-z0-9-]{1,64}$/,
  keyProblem: 'must be an endpoint slug: 1 to 64 of a-z, 0-9 and -',
  value: taggedUnion([ResponsesEndpoint, TranscriptionEndpoint]),
});
