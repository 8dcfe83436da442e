import { type RequestTimings, SERVER_TIMING } from '../../common/http/request-timings.js';
import type { SecretPatterns } from '../../providers/secret-patterns.js';
import type { AnswerHead } from './client-answer.js';
import { clientHeaders, singleHeader, type UpstreamHeaders, withoutControls } from './response-headers.rules.js';
import { maskText } from './secret-mask.js';
import type { ToldAddresses } from './told-addresses.js';

/** A provider's head and the gateway's values for the client's head. */
interface UpstreamHead {
  readonly status: number;
  readonly statusText: string;
  readonly headers: UpstreamHeaders;
  /** Masked in every header value and in the status text. */
  readonly secrets: SecretPatterns;
  /** Whether the body length is unchanged. */
  readonly isWhole: boolean;
  readonly timings: RequestTimings;
  readonly told: ToldAddresses;
}

/** Builds the head of the client's answer. */
export function answerHead({ status, statusText, headers, secrets, isWhole, timings, told }: UpstreamHead): AnswerHead {
  const list = clientHeaders(headers, told);
  for (let at = 1; at < list.length; at += 2) list[at] = maskText(list[at] ?? '', secrets);
  list.push(SERVER_TIMING, timings.header());
  const length = isWhole ? singleHeader(headers, 'content-length') : undefined;
  return {
    status,
    statusText: maskText(withoutControls(statusText), secrets),
    headers: list,
    bodyBytes: length === undefined ? undefined : Number(length),
  };
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

export function isEventStream(contentType: string): boolean {
  return contentType.toLowerCase().includes('text/event-stream');
}
