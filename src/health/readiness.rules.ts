import type { ReadinessResponse } from './dto/health.response.js';

type Dependencies = Pick<ReadinessResponse, 'database' | 'vault' | 'journal' | 'redis'>;

/**
 * Why an instance should get no calls: its stop, otherwise the first part that does not work. @returns null when it
 * should.
 *
 * Source: docs/monitoring.md#health.
 */
export function notReadyReason({
  isStopping,
  database,
  vault,
  journal,
  redis,
}: Dependencies & { readonly isStopping: boolean }): ReadinessResponse['reason'] {
  if (isStopping) return 'stopping';
  if (database !== 'ok') return 'database';
  if (vault !== 'ok') return 'vault';
  if (journal !== 'ok') return 'journal';
  return redis === 'other' ? 'redis' : null;
}
