import { Module } from '@nestjs/common';
import { HealthController } from './health.controller.js';
import { OpenApiController, OpenApiDocument } from './openapi.controller.js';
import { ReadinessService } from './readiness.service.js';

/** Is the process alive, can it work, and what does its API look like. Routes: `/v1/healthz`, `/v1/readyz`, `/openapi.json`. */
@Module({
  controllers: [HealthController, OpenApiController],
  providers: [ReadinessService, OpenApiDocument],
})
export class HealthModule {}
