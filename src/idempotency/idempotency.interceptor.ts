import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { catchError, from, type Observable, of } from 'rxjs';
import { RawBody } from '../common/http/raw-body.js';
import { parseStrictJson } from '../common/http/strict-json.rules.js';
import { requireAdmin } from '../identity/admin-principal.js';
import type { Creation } from './creation.js';
import { readIdempotencyPair } from './idempotency-headers.rules.js';
import type { CreationKind, ReceiptClaim } from './receipt.js';
import { receiptClaim } from './receipt.rules.js';
import { Receipts } from './receipts.service.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the interceptor of creation routes. */
    creation?: Creation;
  }
}

/** What a creation route makes. */
export const Creates = Reflector.createDecorator<CreationKind>();

/** Gives creation routes a `Creation`, and answers retries in their place. Runs after the guards, before the body is judged. */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(
    private readonly receipts: Receipts,
    private readonly reflector: Reflector,
  ) {}

  /** @throws invalid_request as `readIdempotencyPair` and `parseStrictJson` say; and as `Receipts.answerBefore`. */
  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const claim = claimOf(request, this.reflector.get(Creates, context.getHandler()));
    request.creation = this.receipts.creation(claim);
    if (claim === undefined) return next.handle();
    const before = await this.receipts.answerBefore(claim);
    if (before !== undefined) return of(before);
    return next.handle().pipe(catchError((failure: unknown) => from(this.afterFailure(claim, failure))));
  }

  /**
   * Whatever went wrong, the same creation may have been carried out: by a request at the same time, which took the
   * slug or the last place of a ceiling, or by this one, whose connection broke after its last statement. While nobody
   * can look, nobody knows: what kept us from looking is answered then, not a refusal that may be untrue.
   */
  private async afterFailure(claim: ReceiptClaim, failure: unknown): Promise<object> {
    const before = await this.receipts.answerBefore(claim);
    if (before === undefined) throw failure;
    return before;
  }
}

function claimOf(request: FastifyRequest, kind: CreationKind): ReceiptClaim | undefined {
  const pair = readIdempotencyPair(request.headers);
  if (pair === undefined) return undefined;
  const { method, url, body: sent } = request;
  const [path = url] = url.split('?');
  const body = sent instanceof RawBody && sent.bytes.length > 0 ? parseStrictJson(sent.bytes) : null;
  return receiptClaim(requireAdmin(request), pair, { kind, method, path, body });
}
