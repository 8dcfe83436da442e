import { Module } from '@nestjs/common';
import { HealthController } from './health.controller.js';
import { OpenApiController, OpenApiDocument } from './openapi.controller.js';
import { ReadinessService } from './readiness.service.js';

/** Liveness, readiness and the OpenAPI document. Routes: `/v1/healthz`, `/v1/readyz`, `/openapi.json`. */
@Module({
  controllers: [HealthController, OpenApiController],
  providers: [ReadinessService, OpenApiDocument],
})
export class HealthModule {}
