import { applyDecorators, createParamDecorator, UseInterceptors } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import type { ErrorCode } from '../common/errors/error-catalogue.js';
import { Fails } from '../common/http/openapi.decorators.js';
import type { Creation, CreationKind } from './creation.js';
import { Creates, IdempotencyInterceptor } from './idempotency.interceptor.js';
import { IDEMPOTENCY_KEY, IDEMPOTENCY_PROOF, IDEMPOTENCY_TOKEN } from './idempotency-headers.rules.js';

const SCHEMA = { type: 'string', pattern: IDEMPOTENCY_TOKEN.source } as const;

/** The kinds whose response holds a key, which is not replayed forever. */
const WITH_KEY: ReadonlySet<CreationKind> = new Set(['app', 'app_key']);

/**
 * An idempotent creation: requests with the same pair of headers run once and get the same response. Documents the
 * errors of every creation, which a plan may limit, and those of the route.
 *
 * Source: docs/reference/management-api.md#idempotent-creation.
 */
export function Idempotent(kind: CreationKind, ...codes: readonly ErrorCode[]): MethodDecorator {
  return applyDecorators(
    Fails(
      ...(['invalid_request', 'conflict'] as const),
      ...codes,
      ...(WITH_KEY.has(kind) ? (['resource_receipt_expired', 'resource_key_unavailable'] as const) : []),
      ...(['billing_plan_limit_reached', 'billing_payment_required'] as const),
      ...(['billing_unavailable', 'rate_limited', 'service_unavailable'] as const),
    ),
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
      description: `Random, independent of \`${IDEMPOTENCY_KEY}\` and secret: authenticates a retry.`,
    }),
  );
}

/** The creation of the route as a handler argument: `@Creating() creation: Creation`. */
export const Creating = createParamDecorator((_data: undefined, context): Creation => {
  const { creation } = context.switchToHttp().getRequest<FastifyRequest>();
  if (creation === undefined) throw new Error('No idempotency interceptor ran before this creation route.');
  return creation;
});
