import { applyDecorators, UseGuards } from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import { Access } from '../../common/http/access.js';
import { Fails } from '../../common/http/openapi.decorators.js';
import { MetricsGuard } from './metrics.guard.js';

/** A route for monitoring: with `METRICS_TOKEN`, or from this machine when it is not set. */
export function MetricsAccess(): MethodDecorator {
  return applyDecorators(
    Access({ scheme: 'metrics' }),
    UseGuards(MetricsGuard),
    ApiSecurity('MetricsBearer'),
    Fails('auth_required', 'forbidden'),
  );
}
