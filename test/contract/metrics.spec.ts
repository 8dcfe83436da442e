import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createOfflineGateway } from '../../src/bootstrap/offline-gateway.js';
import { renderMetrics } from '../../src/commands/documentation/pages.rules.js';
import { MetricsPage } from '../../src/health/metrics/metrics-page.service.js';

const DOCUMENT = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8');

let app: NestFastifyApplication;

beforeAll(async () => {
  app = await createOfflineGateway();
});

afterAll(() => app.close());

describe('metrics', () => {
  it('docs/metrics.md → as `npm run docs` writes it', () => {
    expect(DOCUMENT).toBe(renderMetrics(app.get(MetricsPage).metrics));
  });
});
