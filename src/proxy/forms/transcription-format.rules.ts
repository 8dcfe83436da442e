import { invalidRequest } from '../../common/errors/gateway-error.js';
import type { ProviderType } from '../../upstreams/provider-types.js';

/** Answers in these formats contain usage or a duration. */
const METERED_FORMATS = new Set(['json', 'verbose_json', 'diarized_json']);
/** Types that report a duration in `verbose_json` only. */
const VERBOSE_ONLY: ReadonlySet<ProviderType> = new Set(['groq', 'together']);
/** Types whose answer always contains a duration. */
const ALWAYS_METERED: ReadonlySet<ProviderType> = new Set(['xai']);

/**
 * Determines whether a transcription answer can be priced. `set` is the equivalent format to request when the requested
 * one cannot be priced.
 *
 * @param format the `response_format` field; undefined when the form has none.
 * @throws invalid_request no equivalent format contains usage.
 */
export function judgeTranscriptionFormat(type: ProviderType, format: string | undefined): { set?: 'verbose_json' } {
  if (ALWAYS_METERED.has(type)) return {};
  if (VERBOSE_ONLY.has(type)) {
    if (format === 'verbose_json') return {};
    if (format === undefined || format === 'json') return { set: 'verbose_json' };
    throw invalidRequest('response_format', 'cannot be priced; send verbose_json');
  }
  if (format === undefined || METERED_FORMATS.has(format)) return {};
  throw invalidRequest('response_format', `cannot be priced; send ${[...METERED_FORMATS].join(', ')}`);
}
