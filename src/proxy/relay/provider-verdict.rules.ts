import type { CallVerdict } from '../../providers/health/provider-health.rules.js';
import type { UsageAttempt, UsageOutcome } from '../../usage/recording/usage-event.js';
import { INTERRUPTED } from '../round-trip/provider-failure.rules.js';

/** The provider refused the stored key: no client can cause this. */
const KEY_REFUSED = 401;

/** Refusals below 500 that are about the account at the provider, not about the request. */
const OF_THE_ACCOUNT: ReadonlySet<number> = new Set([402, 403, 408, 429]);

/** Calls that the gateway or the client ended. */
const OF_OTHERS: ReadonlySet<string> = new Set([
  ...[INTERRUPTED, 'provider_client_left', 'provider_cancelled', 'provider_not_recordable'],
]);

/**
 * What a call says about its provider; undefined: nothing, because the request was at fault or the call was ended.
 *
 * Source: docs/reference/webhooks.md#failing-providers.
 */
export function verdictOf(
  { status, error }: Pick<UsageAttempt, 'status' | 'error'>,
  outcome: Pick<UsageOutcome, 'status' | 'clientAborted'>,
): CallVerdict | undefined {
  if (error !== null && OF_OTHERS.has(error)) return undefined;
  if (status === null) return outcome.clientAborted ? undefined : 'error';
  if (status === KEY_REFUSED) return 'key_refused';
  if (status >= 400 && status < 500) return OF_THE_ACCOUNT.has(status) ? 'error' : undefined;
  return outcome.status === 'ok' ? 'good' : 'error';
}
