import { ApiSchema } from '@nestjs/swagger';
import { Default, objectOf, Required } from '../../common/fields/config-fields.js';
import { integer } from '../../common/fields/config-values.js';

const MAX_RESUME_SECONDS = 600;
const DEFAULT_MAX_BYTES = 1024 * 1024;
const LARGEST_MAX_BYTES = 4 * DEFAULT_MAX_BYTES;

/**
 * Whether answers of models are kept for a while, so that a client that lost its connection can read on.
 *
 * Source: docs/reference/application-api.md#resumable-answers.
 */
@ApiSchema({ name: 'AppStreams' })
export class StreamsConfig {
  @Required(integer({ min: 0, max: MAX_RESUME_SECONDS }), {
    description: 'How long an answer is kept after its end, in seconds; 0: no byte of an answer is kept.',
  })
  readonly resume_seconds: number;

  @Default(integer({ min: 1, max: LARGEST_MAX_BYTES }), DEFAULT_MAX_BYTES, {
    description: 'How many bytes of an answer are kept; what follows them reaches only the client of the call.',
  })
  readonly max_bytes: number;
}

export const streamsConfig = objectOf(StreamsConfig);
