import type { EntityManager } from 'typeorm';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { waitedForLock } from './database-errors.js';

/** A waiting caller holds a connection that others need. */
const MAX_WAIT_MS = 200;
/** The columns are computed from left to right, so the bound holds for this lock alone. */
const LOCK = `SELECT set_config('lock_timeout', '${MAX_WAIT_MS}', true), pg_advisory_xact_lock(hashtextextended($1, 0)),
  set_config('lock_timeout', '0', true)`;

/**
 * Locks a name until the transaction ends.
 *
 * @throws rate_limited others have held it for 200 ms.
 */
export async function lockName(tx: EntityManager, name: string): Promise<void> {
  try {
    await tx.query(LOCK, [name]);
  } catch (error) {
    if (!waitedForLock(error)) throw error;
    throw new GatewayError('rate_limited', {
      message: 'Too many concurrent requests of this kind; try again in a second.',
      reason: 'lock_held',
      retryAfterSeconds: 1,
    });
  }
}
