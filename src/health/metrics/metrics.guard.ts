import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { GatewayError } from '../../common/errors/gateway-error.js';
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
