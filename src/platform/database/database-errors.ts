import { QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';
import { systemErrorCode } from '../../common/errors/system-error-code.js';

const UNIQUE_VIOLATION = '23505';
const REFERENCE_VIOLATION = '23503';
const CHECK_VIOLATION = '23514';
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Transient SQLSTATEs: connection exceptions (08), insufficient resources (53: too many connections, disk or memory
 * full), shutting down or starting up (57P01 to 57P03), statement cancelled or timed out (57014), lock timeout (55P03),
 * deadlock or serialization failure (40P01, 40001), and a server that became read-only in a failover (25006).
 */
const NOT_NOW = /^(?:08...|53...|57P0[123]|57014|55P03|40P01|40001|25006)$/;

/** Error codes of the operating system and the resolver for an unreachable server. */
const NETWORK_CODES: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EPIPE',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** The driver reports these failures with a message and no code. */
const DRIVER_MESSAGES: ReadonlySet<string> = new Set([
  'timeout expired',
  'timeout exceeded when trying to connect',
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'Client has encountered a connection error and is not queryable',
]);

/** Maximum depth of nested causes; also ends a cyclic chain. */
const MAX_CAUSES = 5;

/** True when a statement violated this unique constraint or index. */
export function violatesUnique(error: unknown, constraint: string): boolean {
  return broke(error, UNIQUE_VIOLATION, constraint);
}

/** True when a statement violated this foreign key, on either side. */
export function violatesForeignKey(error: unknown, constraint: string): boolean {
  return broke(error, REFERENCE_VIOLATION, constraint);
}

/**
 * True when a partition was added while a row for it was inserted: the row is not stored, and a retry succeeds.
 * Postgres reports a check violation without a constraint name.
 */
export function missedPartition(error: unknown): boolean {
  return causes(error).some(
    (one) => systemErrorCode(one) === CHECK_VIOLATION && property(one, 'constraint') === undefined,
  );
}

function broke(error: unknown, code: string, constraint: string): boolean {
  return causes(error).some((one) => systemErrorCode(one) === code && property(one, 'constraint') === constraint);
}

/**
 * True when Postgres is down, unreachable, overloaded or too slow, so that a retry may succeed. Such a call gets 503
 * with `Retry-After`. Source: docs/reference/security.md#dependency-failures.
 */
export function isConnectionTrouble(error: unknown): boolean {
  return causes(error).some((one) => {
    // The connection of a transaction broke, and TypeORM has already released it.
    if (one instanceof QueryRunnerAlreadyReleasedError) return true;
    if (one instanceof QueryRunnerProviderAlreadyReleasedError) return true;
    const code = systemErrorCode(one);
    if (code !== undefined) return NOT_NOW.test(code) || NETWORK_CODES.has(code);
    return one instanceof Error && DRIVER_MESSAGES.has(one.message);
  });
}

/** True when a lock was not free within `lock_timeout`. */
export function waitedForLock(error: unknown): boolean {
  return causes(error).some((one) => systemErrorCode(one) === LOCK_NOT_AVAILABLE);
}

/** The error and its nested causes, outermost first. */
function causes(error: unknown): unknown[] {
  const found: unknown[] = [];
  let next = error;
  while (next !== undefined && next !== null && found.length < MAX_CAUSES) {
    found.push(next);
    next = property(next, 'driverError') ?? property(next, 'cause');
  }
  return found;
}

function property(holder: unknown, name: string): unknown {
  if (typeof holder !== 'object' || holder === null) return undefined;
  return Reflect.get(holder, name);
}
