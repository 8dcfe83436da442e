import { type GuardedAnswer, type GuardedRequest, OutboundError } from '../../../platform/outbound/guarded-request.js';

const TIMEOUT_MS = 5_000;
const MAX_ANSWER_BYTES = 64 * 1024;

/** Why a token could not be decoded, other than a failed proof. */
type TroubleReason = 'play_credentials_missing' | 'play_access_refused' | 'play_quota_exhausted' | 'play_unreachable';

/** The vendor cannot be called, or does not answer; never a failed proof. */
export class PlayTrouble extends Error {
  /** @param detail for the log; contains no part of an answer. */
  constructor(
    readonly reason: TroubleReason,
    readonly detail: string,
  ) {
    super(`${reason}: ${detail}`);
    this.name = 'PlayTrouble';
  }
}

interface VendorRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Asks the vendor.
 *
 * @param what names the request in the detail of the error; empty for a decoding.
 * @throws PlayTrouble `play_unreachable` it does not answer.
 */
export async function askVendor(
  outbound: GuardedRequest,
  url: string,
  { headers, body }: VendorRequest,
  what = '',
): Promise<GuardedAnswer> {
  try {
    return await outbound.post(url, { headers, body, timeoutMs: TIMEOUT_MS, maxBytes: MAX_ANSWER_BYTES });
  } catch (error) {
    throw error instanceof OutboundError ? new PlayTrouble('play_unreachable', `${what}${error.reason}`) : error;
  }
}
