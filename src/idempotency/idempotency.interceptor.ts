import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { catchError, from, type Observable, of } from 'rxjs';
import { requireAdmin } from '../accounts/access/admin-principal.js';
import { RawBody } from '../common/http/raw-body.js';
import { parseStrictJson } from '../common/http/strict-json.rules.js';
import type { Creation, CreationKind, RecordClaim } from './creation.js';
import { readIdempotencyPair } from './idempotency-headers.rules.js';
import { recordClaim } from './idempotency-record.rules.js';
import { IdempotencyRecords } from './idempotency-records.service.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `IdempotencyInterceptor`. */
    creation?: Creation;
  }
}

/** The kind of resource that a route creates. */
export const Creates = Reflector.createDecorator<CreationKind>();

/** Sets `request.creation` and replays the response of a retry; after the guards, before body validation. */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(
    private readonly records: IdempotencyRecords,
    private readonly reflector: Reflector,
  ) {}

  /**
   * @throws invalid_request as `readIdempotencyPair` and `parseStrictJson`; and as `IdempotencyRecords.answerBefore`.
   */
  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const claim = claimOf(request, this.reflector.get(Creates, context.getHandler()));
    request.creation = this.records.creation(requireAdmin(request).organizationId, claim);
    if (claim === undefined) return next.handle();
    const before = await this.records.answerBefore(claim);
    if (before !== undefined) return of(before);
    return next.handle().pipe(catchError((failure: unknown) => from(this.afterFailure(claim, failure))));
  }

  /**
   * Looks for a record after a failure. The same creation may have succeeded: in a concurrent request that took the
   * slug or the last place of a limit, or in this one when the connection broke after its last statement. If the
   * look-up fails, its error is returned, because the original refusal may be wrong.
   */
  private async afterFailure(claim: RecordClaim, failure: unknown): Promise<object> {
    const before = await this.records.answerBefore(claim);
    if (before === undefined) throw failure;
    return before;
  }
}

function claimOf(request: FastifyRequest, kind: CreationKind): RecordClaim | undefined {
  const pair = readIdempotencyPair(request.headers);
  if (pair === undefined) return undefined;
  const { method, url, body: sent } = request;
  const [path = url] = url.split('?');
  const body = sent instanceof RawBody && sent.bytes.length > 0 ? parseStrictJson(sent.bytes) : null;
  return recordClaim(requireAdmin(request), pair, { kind, method, path, body });
}
