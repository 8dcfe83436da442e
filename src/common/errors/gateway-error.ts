import { ERRORS, type ErrorCode, type RefusalCode, type UnavailableCode } from './error-catalogue.js';
import type { Reason } from './reasons.js';

/** Flat extras of an error body; clients cannot decode nested values. */
export type ErrorData = Readonly<Record<string, string | number | boolean>>;

interface GatewayErrorOptions {
  /** States the exact problem and its remedy; the catalogue's text when absent. Contains no secret. */
  readonly message?: string;
  /** For the log only. */
  readonly reason?: Reason | undefined;
  /** For codes with several statuses. */
  readonly status?: number;
  readonly data?: ErrorData;
  /** Seconds for the `Retry-After` header; required with 429 and 503. */
  readonly retryAfterSeconds?: number;
  /** Further response headers, such as `WWW-Authenticate`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
  /** Dotted path of the invalid member, with which the message begins. */
  readonly path?: string;
}

/** A 503 says why, by a reason that is documented, and when to come back, where that is known. */
interface UnavailableOptions extends GatewayErrorOptions {
  readonly reason: Reason;
}

/** The only error that modules throw deliberately; the filter converts it to the error envelope. */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly reason: Reason | undefined;
  readonly data: ErrorData | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly path: string | undefined;

  constructor(code: UnavailableCode, options: UnavailableOptions);
  constructor(code: RefusalCode, options?: GatewayErrorOptions);
  constructor(code: ErrorCode, options: GatewayErrorOptions = {}) {
    super(options.message ?? ERRORS[code].message, { cause: options.cause });
    this.name = 'GatewayError';
    this.code = code;
    this.status = options.status ?? ERRORS[code].status;
    this.reason = options.reason;
    this.data = options.data;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.headers = options.headers;
    this.path = options.path;
  }
}

/**
 * Refuses one member of a body or query: `400 invalid_request` with `<dot.path>: <what is wrong>`.
 *
 * @param path dotted path of the invalid member; `body` at the root.
 * Source: docs/reference/management-api.md#requests-and-bodies.
 */
export function invalidRequest(path: string, problem: string, reason?: Reason): GatewayError {
  return new GatewayError('invalid_request', { message: `${path}: ${problem}`, reason, path });
}

/**
 * Runs work on a document that was sent as a member of another one: its refusals name the path in what was sent.
 *
 * @param member path of the document; `undefined` when it is what was sent.
 * @throws what `work` throws, with the path of an invalid member below `member`.
 */
export async function judgedBelow<T>(member: string | undefined, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (member === undefined || !(error instanceof GatewayError) || error.path === undefined) throw error;
    const problem = error.message.slice(`${error.path}: `.length);
    throw invalidRequest(error.path === 'body' ? member : `${member}.${error.path}`, problem, error.reason);
  }
}
