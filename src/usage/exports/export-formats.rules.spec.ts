import { describe, expect, it } from '@jest/globals';
import { instantOf } from '../../common/clock.js';
import type { UsageEventRow } from '../recording/usage-rows.js';
import { exportFormat } from './export-formats.rules.js';

/** Members that are undefined are not written as JSON. */
const ABSENT = {
  ...{ auth_method: null, provider_gateway_id: null, credential_source: null, model_author: null, served_model: null },
  ...{ served_provider: null, cost_source: null, client_aborted: false, latency_ms: null, duration_ms: null },
  app_version: null,
};
const EVENT = {
  ...{ id: '7', app_id: 'notes', user_id: 'ann', api_key_id: null, endpoint_slug: 'chat', model: 'm', status: 'ok' },
  ...{ provider_type: 'openai', provider_slug: 'own', provider_gateway_type: null, route: 'own/v1/responses' },
  ...{ input_tokens: '1', cached_input_tokens: '2', cache_write_tokens: '3', output_tokens: '4', requests: 1 },
  ...{ cost_nano_usd: '1500000001', charged_nano_usd: '1500000003', groups: { user: 'blue', team: '=red' } },
  ...{ created_at: instantOf(Date.UTC(2026, 11, 31, 23, 59, 59, 999)), settled_at: null, refusal: null },
} as unknown as UsageEventRow;

/** The cells of a line by their headings. */
function cellsOf(format: 'csv' | 'focus'): Record<string, string> {
  const { head, lineOf } = exportFormat(format);
  const [names = [], values = []] = [head, lineOf(EVENT)].map((line) =>
    [...line.matchAll(/"((?:[^"]|"")*)"/g)].map(([, cell = '']) => cell.replaceAll('""', '"')),
  );
  return Object.fromEntries(names.map((name, at) => [name, values[at] ?? '']));
}

describe('formats of exports', () => {
  it('focus → exact dollars; the last hour of a year ends in the next; groups replace no other tag', () => {
    const row = cellsOf('focus');
    expect(row).toMatchObject({
      ...{ BilledCost: '1.500000001', EffectiveCost: '1.500000001', x_EstimatedCost: '0.000000002' },
      ...{ ChargePeriodStart: '2026-12-31T23:00:00Z', ChargePeriodEnd: '2027-01-01T00:00:00Z' },
      ...{ BillingPeriodStart: '2026-12-01T00:00:00Z', BillingPeriodEnd: '2027-01-01T00:00:00Z' },
      ...{ ConsumedQuantity: '10', InvoiceIssuerName: 'openai', SubAccountId: 'notes' },
    });
    expect(JSON.parse(row.Tags ?? '')).toEqual({
      ...{ user: 'ann', endpoint: 'chat', model: 'm', 'group:user': 'blue', 'group:team': '=red' },
    });
  });

  it('csv and ndjson → the same members', () => {
    const row = JSON.parse(exportFormat('ndjson').lineOf({ ...ABSENT, ...EVENT }));
    expect(Object.keys(row)).toEqual(Object.keys(cellsOf('csv')));
    expect(row).toMatchObject({ id: 7, cost_nano_usd: 1_500_000_001, estimated_nano_usd: 2, groups: EVENT.groups });
    expect(cellsOf('csv')).toMatchObject({
      id: '7',
      cost_nano_usd: '1500000001',
      groups: JSON.stringify(EVENT.groups),
    });
  });
});
