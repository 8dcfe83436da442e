import { ERRORS, type ErrorCode } from './error-catalogue.js';

/** Flat extras of an error body. Clients cannot decode nested values. */
export type ErrorData = Readonly<Record<string, string | number | boolean>>;

interface GatewayErrorOptions {
  /** Says exactly what is wrong and how to fix it; the catalogue's text when absent. Never holds a secret. */
  readonly message?: string;
  /** Granular, snake_case, for the log only. */
  readonly reason?: string;
  /** Where a code has several statuses. */
  readonly status?: number;
  readonly data?: ErrorData;
  /** Whole seconds for a `Retry-After` header; required with 429 and 503. */
  readonly retryAfterSeconds?: number;
  /** Further headers of the refusal, such as `WWW-Authenticate`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** The only error our rooms throw on purpose; the filter turns it into the error envelope. */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly reason: string | undefined;
  readonly data: ErrorData | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(code: ErrorCode, options: GatewayErrorOptions = {}) {
    super(options.message ?? ERRORS[code].message, { cause: options.cause });
    this.name = 'GatewayError';
    this.code = code;
    this.status = options.status ?? ERRORS[code].status;
    this.reason = options.reason;
    this.data = options.data;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.headers = options.headers;
  }
}

/**
 * A refusal of a body or query for one place in it: `400 invalid_request` with `<dot.path>: <what is wrong>`.
 *
 * @param path dotted path of the offending member; `body` at the root.
 * Source: docs/reference/management-api.md#requests-and-bodies.
 */
export function invalidRequest(path: string, problem: string, reason?: string): GatewayError {
  return new GatewayError('invalid_request', { message: `${path}: ${problem}`, reason });
}
