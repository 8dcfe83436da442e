import { Module } from '@nestjs/common';
import { Traces } from './traces.service.js';

/**
 * Traces of provider calls, exported to `OTEL_EXPORTER_OTLP_ENDPOINT`.
 *
 * Log lines: traces_export_failed.
 */
@Module({ providers: [Traces], exports: [Traces] })
export class TracesModule {}
