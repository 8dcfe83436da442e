import { Module } from '@nestjs/common';
import { AccessModule } from '../accounts/access/access.module.js';
import { PricingModule } from '../pricing/pricing.module.js';
import { RetentionModule } from '../retention/retention.module.js';
import { DeploymentController } from './deployment.controller.js';
import { DeploymentReport } from './deployment.service.js';
import { HealthController } from './health.controller.js';
import { HealthHistory } from './history/health-history.service.js';
import { HealthSlotsRepository } from './history/health-slots.repository.js';
import { OpenApiController, OpenApiDocument } from './openapi.controller.js';
import { ReadinessService } from './readiness.service.js';

/**
 * Liveness, readiness and its history, the deployment as its owners see it, and the OpenAPI document.
 *
 * Tables: health_slots. Routes: `/v1/healthz`, `/v1/readyz`, `/v1/admin/deployment`, `/openapi.json`.
 */
@Module({
  imports: [AccessModule, PricingModule, RetentionModule],
  controllers: [HealthController, DeploymentController, OpenApiController],
  providers: [ReadinessService, DeploymentReport, HealthHistory, HealthSlotsRepository, OpenApiDocument],
})
export class HealthModule {}
