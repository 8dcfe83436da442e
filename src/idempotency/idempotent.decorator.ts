import { applyDecorators, createParamDecorator, UseInterceptors } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import type { Creation } from './creation.js';
import { Creates, IdempotencyInterceptor } from './idempotency.interceptor.js';
import { IDEMPOTENCY_KEY, IDEMPOTENCY_PROOF, IDEMPOTENCY_TOKEN } from './idempotency-headers.rules.js';
import type { CreationKind } from './receipt.js';

const SCHEMA = { type: 'string', pattern: IDEMPOTENCY_TOKEN.source } as const;

/**
 * An idempotent creation: requests with the same pair of headers run once and get the same response. The route must
 * list `conflict` in its `Fails`, and `resource_receipt_expired` and `resource_key_unavailable` if it returns a key.
 *
 * Source: docs/reference/management-api.md#idempotent-creation.
 */
export function Idempotent(kind: CreationKind): MethodDecorator {
  return applyDecorators(
    Creates(kind),
    UseInterceptors(IdempotencyInterceptor),
    ApiHeader({
      name: IDEMPOTENCY_KEY,
      required: false,
      schema: SCHEMA,
      description: `Random, one for each creation; only with \`${IDEMPOTENCY_PROOF}\`. A retry with both gets the first answer.`,
    }),
    ApiHeader({
      name: IDEMPOTENCY_PROOF,
      required: false,
      schema: SCHEMA,
      description: `Random, made independently of \`${IDEMPOTENCY_KEY}\` and kept secret: what a retry proves itself with.`,
    }),
  );
}

/** The creation of the route as a handler argument: `@Creating() creation: Creation`. */
export const Creating = createParamDecorator((_data: undefined, context): Creation => {
  const { creation } = context.switchToHttp().getRequest<FastifyRequest>();
  if (creation === undefined) throw new Error('No idempotency interceptor ran before this creation route.');
  return creation;
});
