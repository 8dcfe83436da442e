import { Controller, Get, Header } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { Fails, Operation } from '../../common/http/openapi.decorators.js';
import { EXPOSITION_TYPE } from './exposition.rules.js';
import { MetricsAccess } from './metrics.guard.js';
import { MetricsPage } from './metrics-page.service.js';

@Controller()
export class MetricsController {
  constructor(private readonly page: MetricsPage) {}

  @Get('metrics')
  @MetricsAccess()
  @Header('content-type', EXPOSITION_TYPE)
  @Header('cache-control', 'no-store')
  @Operation({
    id: 'getMetrics',
    tag: 'Operations',
    summary: 'Read the metrics of this instance',
    description:
      'Counters and gauges in the Prometheus text format: of this process, or of all workers that share its port. Requires the bearer `METRICS_TOKEN`; if that is not set, only requests from the same machine are allowed, without one.',
  })
  @Fails('service_unavailable')
  @ApiOkResponse({
    description: 'Prometheus text format, version 0.0.4.',
    content: { 'text/plain': { schema: { type: 'string' } } },
  })
  expose(): Promise<string> {
    return this.page.render();
  }
}
