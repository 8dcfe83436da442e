import { invalidRequest } from '../../common/errors/gateway-error.js';
import type { ProviderType } from '../../upstreams/provider-types.js';

/** Answers in these formats carry usage or a duration. */
const METERED_FORMATS = new Set(['json', 'verbose_json', 'diarized_json']);
/** Types that report a duration in `verbose_json` alone. */
const VERBOSE_ONLY: ReadonlySet<ProviderType> = new Set(['groq', 'together']);
/** Types whose answer always has a duration. */
const ALWAYS_METERED: ReadonlySet<ProviderType> = new Set(['xai']);

/**
 * Whether the answer of a transcription can be priced, and the format to ask for instead when the one asked for
 * cannot but an equivalent can.
 *
 * @param format the `response_format` field; undefined when the form has none.
 * @throws invalid_request no format of the answer would carry usage.
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
