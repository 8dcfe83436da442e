import { applyDecorators, type CanActivate, type ExecutionContext, Injectable, UseGuards } from '@nestjs/common';
import { ApiExcludeEndpoint } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Access } from '../../common/http/access.js';
import { SharedClock } from '../../platform/clock/shared-clock.js';
import { Environment } from '../../platform/config/environment.js';
import { InstanceRegistry } from '../../platform/instances/instance-registry.js';
import { credentialOf } from './instance-reply.rules.js';
import { StreamIds } from './stream-ids.service.js';

/** How far the time of a request may be away. Both instances use the clock of the database. */
const HOLDS_MS = 10_000;
const CHALLENGE = 'Instance';

type InstanceRead = FastifyRequest<{
  Params: { readonly instance: string; readonly stream: string };
  Querystring: { readonly from?: unknown };
}>;

/** Admits other instances that ask this one; without `INTERNAL_URL` nobody. */
@Injectable()
export class InstanceGuard implements CanActivate {
  constructor(
    private readonly environment: Environment,
    private readonly instances: InstanceRegistry,
    private readonly streamIds: StreamIds,
    private readonly clock: SharedClock,
  ) {}

  /** @throws not_found, auth_required */
  canActivate(context: ExecutionContext): boolean {
    const { params, query, headers } = context.switchToHttp().getRequest<InstanceRead>();
    const { instance, stream } = params;
    if (this.environment.INTERNAL_URL === undefined || instance !== this.instances.id)
      throw new GatewayError('not_found', { reason: 'instance_not_here' });
    const credential = credentialOf(headers.authorization);
    if (credential !== undefined && Math.abs(Number(credential.sentAtMs) - this.clock.nowMs()) < HOLDS_MS) {
      const asked = { instance, stream, from: String(query.from), sentAtMs: credential.sentAtMs };
      if (this.streamIds.isSigned(asked, credential.signature)) return true;
    }
    throw new GatewayError('auth_required', {
      reason: 'instance_signature_invalid',
      headers: { 'www-authenticate': CHALLENGE },
    });
  }
}

/** A route for the other instances of the deployment. It is not in the OpenAPI document. */
export function InstanceAccess(): MethodDecorator {
  return applyDecorators(Access({ scheme: 'instance' }), UseGuards(InstanceGuard), ApiExcludeEndpoint());
}
