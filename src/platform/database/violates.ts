import { QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';
import { errorCode } from '../../common/errors/error-code.js';

const UNIQUE_VIOLATION = '23505';
const REFERENCE_VIOLATION = '23503';
const CHECK_VIOLATION = '23514';

/**
 * SQLSTATEs with which Postgres says "not now": connection exceptions (08), insufficient resources (53: too many
 * connections, disk or memory full), shutting down or starting up (57P01 to 57P03), statement cancelled or timed out
 * (57014), lock time-out (55P03), the loser of a deadlock or of a conflict (40P01, 40001), and a server that turned
 * read-only in a failover (25006).
 */
const NOT_NOW = /^(?:08...|53...|57P0[123]|57014|55P03|40P01|40001|25006)$/;

/** What the operating system or the resolver says when the server cannot be reached. */
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

/** The driver gives these failures a text and no code, so the text is all there is to compare. */
const DRIVER_MESSAGES: ReadonlySet<string> = new Set([
  'timeout expired',
  'timeout exceeded when trying to connect',
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'Client has encountered a connection error and is not queryable',
]);

/** Wrappers are followed this deep; a chain that bites its own tail ends here too. */
const MAX_CAUSES = 5;

/** True when a statement was refused because of this unique constraint or index.  */
export function violates(error: unknown, constraint: string): boolean {
  return broke(error, UNIQUE_VIOLATION, constraint);
}

/** True when a statement was refused because a row would refer to nothing, or is still referred to, by this key. */
export function breaksReference(error: unknown, constraint: string): boolean {
  return broke(error, REFERENCE_VIOLATION, constraint);
}

/**
 * True when a row was on its way to a partition while another was made for rows like it; it is not stored, and finds its
 * place when it is sent again. Postgres says that as of a check, but names none.
 */
export function missedPartition(error: unknown): boolean {
  return causes(error).some((one) => errorCode(one) === CHECK_VIOLATION && property(one, 'constraint') === undefined);
}

function broke(error: unknown, code: string, constraint: string): boolean {
  return causes(error).some((one) => errorCode(one) === code && property(one, 'constraint') === constraint);
}

/**
 * True when Postgres is down, unreachable, overloaded or too slow, so that the same call may succeed later. Such a call
 * is answered 503 with `Retry-After`. Source: docs/reference/security.md#dependency-failures.
 */
export function isConnectionTrouble(error: unknown): boolean {
  return causes(error).some((one) => {
    // A transaction whose connection broke: TypeORM has already given the connection back.
    if (one instanceof QueryRunnerAlreadyReleasedError) return true;
    if (one instanceof QueryRunnerProviderAlreadyReleasedError) return true;
    const code = errorCode(one);
    if (code !== undefined) return NOT_NOW.test(code) || NETWORK_CODES.has(code);
    return one instanceof Error && DRIVER_MESSAGES.has(one.message);
  });
}

/** The error, what it wraps and what that wraps, outermost first. */
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
