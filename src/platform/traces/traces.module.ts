import { Module } from '@nestjs/common';
import { Traces } from './traces.service.js';

/**
 * Traces of calls to providers for the collector that `OTEL_EXPORTER_OTLP_ENDPOINT` names.
 *
 * Log lines: traces_export_failed.
 */
@Module({ providers: [Traces], exports: [Traces] })
export class TracesModule {}
