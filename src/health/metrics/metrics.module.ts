import { Module } from '@nestjs/common';
import { EventLoopDelay } from './event-loop-delay.js';
import { MetricsController } from './metrics.controller.js';
import { MetricsPage } from './metrics-page.service.js';

/**
 * Exports the counters of the platform's `Metrics`, which every module may add to.
 *
 * Tables: none. Routes: `/metrics`. Codes: auth_required, forbidden.
 */
@Module({ controllers: [MetricsController], providers: [EventLoopDelay, MetricsPage] })
export class MetricsModule {}
