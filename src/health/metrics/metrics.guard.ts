import { applyDecorators, type CanActivate, type ExecutionContext, Injectable, UseGuards } from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Access } from '../../common/http/access.js';
import { Fails } from '../../common/http/openapi.decorators.js';
import { Environment } from '../../platform/config/environment.js';
import { carriesToken, isLocalRequest } from './metrics-access.rules.js';

const CHALLENGE = 'Bearer realm="metrics"';

/** Requires `METRICS_TOKEN`; without that setting, admits only requests from this machine. */
@Injectable()
export class MetricsGuard implements CanActivate {
  constructor(private readonly environment: Environment) {}

  /** @throws auth_required, forbidden */
  canActivate(context: ExecutionContext): boolean {
    const { headers, raw } = context.switchToHttp().getRequest<FastifyRequest>();
    const token = this.environment.METRICS_TOKEN;
    if (token === undefined) requireLocal(isLocalRequest(raw.socket.remoteAddress, headers));
    else requireToken(carriesToken(headers.authorization, token));
    return true;
  }
}

/** A route for monitoring: with `METRICS_TOKEN`, or from this machine when it is not set. */
export function MetricsAccess(): MethodDecorator {
  return applyDecorators(
    Access({ scheme: 'metrics' }),
    UseGuards(MetricsGuard),
    ApiSecurity('MetricsBearer'),
    Fails('auth_required', 'forbidden'),
  );
}

function requireLocal(isLocal: boolean): void {
  if (isLocal) return;
  throw new GatewayError('forbidden', {
    message: 'Metrics are available to this machine only, unless METRICS_TOKEN is set.',
    reason: 'metrics_peer_not_local',
  });
}

function requireToken(isRight: boolean): void {
  if (isRight) return;
  const headers = { 'www-authenticate': CHALLENGE };
  throw new GatewayError('auth_required', { reason: 'metrics_token_invalid', headers });
}
