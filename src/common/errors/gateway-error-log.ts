import { Injectable } from '@nestjs/common';
import { appOf, appVersionOf, type GatewayRequest, pathOf } from '../http/gateway-request.js';
import { Log } from '../log/log.js';
import type { GatewayError } from './gateway-error.js';

/** Writes the `gateway_error` line of a refused request, once per request. */
@Injectable()
export class GatewayErrorLog {
  constructor(private readonly log: Log) {}

  /**
   * Writes exactly one line per request, with exactly the specified fields. The cause of an `internal_error` gets a
   * line of its own.
   */
  write(request: GatewayRequest, error: GatewayError): void {
    if (request.raw.refusedWith !== undefined) return;
    request.raw.refusedWith = error.code;
    this.log.event('gateway_error', {
      code: error.code,
      reason: error.reason,
      status: error.status,
      path: pathOf(request),
      method: request.method,
      app: appOf(request),
      appVersion: appVersionOf(request),
    });
    if (error.code === 'internal_error' && error.cause !== undefined) this.writeCause(request, error.cause);
  }

  /** Logs name, message and stack of an error, never its parameters; for a value that is no error, only its type. */
  private writeCause(request: GatewayRequest, error: unknown): void {
    const known = error instanceof Error ? error : new Error(typeof error);
    this.log.event('unhandled_error', {
      path: pathOf(request),
      method: request.method,
      error: `${known.name}: ${known.message}`,
      stack: known.stack,
    });
  }
}
