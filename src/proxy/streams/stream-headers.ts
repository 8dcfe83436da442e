/** Headers of kept answers, in lower case. Source: docs/reference/application-api.md#resumable-answers. */
export const STREAM_HEADER = 'x-gateway-stream';
export const STREAM_OFFSET_HEADER = 'x-gateway-stream-offset';
export const STREAM_STATE_HEADER = 'x-gateway-stream-state';
export const STREAM_LENGTH_HEADER = 'x-gateway-stream-length';
