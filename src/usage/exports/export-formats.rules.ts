import { dayStartMs, instantOf } from '../../common/clock.js';
import type { UsageEventRow } from '../recording/usage-rows.js';
import { csvLine, exactUsd } from '../reports/csv.rules.js';
import { estimateOf } from '../reports/usage-totals.rules.js';

const HOUR_MS = 60 * 60 * 1000;

type Tags = Readonly<Record<string, string>>;

type Value = string | number | boolean | null | Tags;

/** Columns by name, in order. */
type Columns = Readonly<Record<string, (event: UsageEventRow) => Value>>;

/** The members of an event; money in whole nano-dollars. */
const COLUMNS: Columns = {
  id: ({ id }) => Number(id),
  created_at: ({ created_at: createdAt }) => createdAt.toISOString(),
  app: ({ app_id: app }) => app,
  status: ({ status }) => status,
  requests: ({ requests }) => requests,
  refusal_code: ({ refusal }) => refusal?.code ?? null,
  refusal_reason: ({ refusal }) => refusal?.reason ?? null,
  refusal_message: ({ refusal }) => refusal?.message ?? null,
  user: ({ user_id: user }) => user,
  groups: ({ groups }) => groups,
  key: ({ api_key_id: key }) => key,
  auth_method: ({ auth_method: method }) => method,
  endpoint: ({ endpoint_slug: endpoint }) => endpoint,
  provider_type: ({ provider_type: type }) => type,
  provider: ({ provider_slug: slug }) => slug,
  provider_gateway: ({ provider_gateway_id: gateway }) => gateway,
  credential_source: ({ credential_source: source }) => source,
  model: ({ model }) => model,
  model_author: ({ model_author: author }) => author,
  served_model: ({ served_model: model }) => model,
  served_provider: ({ served_provider: provider }) => provider,
  route: ({ route }) => route,
  input_tokens: ({ input_tokens: tokens }) => Number(tokens),
  cached_input_tokens: ({ cached_input_tokens: tokens }) => Number(tokens),
  cache_write_tokens: ({ cache_write_tokens: tokens }) => Number(tokens),
  output_tokens: ({ output_tokens: tokens }) => Number(tokens),
  cost_nano_usd: ({ cost_nano_usd: cost }) => Number(cost),
  estimated_nano_usd: (event) => Number(estimateOf(event)),
  cost_source: ({ cost_source: source }) => source,
  settled_at: ({ settled_at: settledAt }) => settledAt?.toISOString() ?? null,
  client_aborted: ({ client_aborted: aborted }) => aborted,
  latency_ms: ({ latency_ms: latency }) => latency,
  duration_ms: ({ duration_ms: duration }) => duration,
  app_version: ({ app_version: version }) => version,
};

/**
 * Columns of FOCUS 1.3, one row for each call that reached a provider: those of which the gateway knows the value. The
 * period of a charge is the hour of its call. Columns with `x_` are the gateway's own.
 */
const FOCUS: Columns = {
  BilledCost: costOf,
  BillingCurrency: () => 'USD',
  BillingPeriodStart: ({ created_at: createdAt }) => monthStart(createdAt, 0),
  BillingPeriodEnd: ({ created_at: createdAt }) => monthStart(createdAt, 1),
  ChargeCategory: () => 'Usage',
  ChargeClass: () => null,
  ChargeDescription: ({ model, provider_type: type }) => `${model} on ${type}`,
  ChargeFrequency: () => 'Usage-Based',
  ChargePeriodStart: ({ created_at: createdAt }) => hourStart(createdAt, 0),
  ChargePeriodEnd: ({ created_at: createdAt }) => hourStart(createdAt, 1),
  ConsumedQuantity: tokensOf,
  ConsumedUnit: () => 'Tokens',
  ContractedCost: costOf,
  EffectiveCost: costOf,
  InvoiceIssuerName: issuerOf,
  ListCost: costOf,
  PricingQuantity: tokensOf,
  PricingUnit: () => 'Tokens',
  ResourceId: ({ route }) => route,
  ServiceCategory: () => 'AI and Machine Learning',
  ServiceName: ({ model }) => model,
  ServiceProviderName: issuerOf,
  SkuId: ({ provider_type: type, model }) => `${type}/${model}`,
  SubAccountId: ({ app_id: app }) => app,
  Tags: tagsOf,
  x_EstimatedCost: (event) => exactUsd(estimateOf(event)),
  x_EventId: ({ id }) => Number(id),
};

/** How events are written. The bytes of the parts, joined, are the export. */
export interface ExportFormat {
  readonly type: string;
  /** Before the first event. */
  readonly head: string;
  readonly lineOf: (event: UsageEventRow) => string;
  /** Only events with these statuses; absent: all. */
  readonly statuses?: readonly string[];
}

const CSV = 'text/csv; charset=utf-8';

const FORMATS = {
  csv: { type: CSV, ...asCsv(COLUMNS) },
  ndjson: {
    type: 'application/x-ndjson; charset=utf-8',
    head: '',
    lineOf: (event: UsageEventRow) => {
      const members = Object.entries(COLUMNS).map(([name, read]) => [name, read(event)]);
      return `${JSON.stringify(Object.fromEntries(members))}\n`;
    },
  },
  focus: { type: CSV, ...asCsv(FOCUS), statuses: ['ok', 'provider_error'] },
} as const satisfies Record<string, ExportFormat>;

export type ExportFormatName = keyof typeof FORMATS;

/** Source: docs/reference/management-api.md#export-of-usage. */
export const EXPORT_FORMATS = Object.keys(FORMATS) as readonly ExportFormatName[];

export function exportFormat(name: ExportFormatName): ExportFormat {
  return FORMATS[name];
}

function asCsv(columns: Columns): Pick<ExportFormat, 'head' | 'lineOf'> {
  const reads = Object.values(columns);
  return {
    head: csvLine(Object.keys(columns)),
    lineOf: (event) => csvLine(reads.map((read) => cellOf(read(event)))),
  };
}

function cellOf(value: Value): string | number | null {
  if (typeof value === 'object' && value !== null) return JSON.stringify(value);
  return typeof value === 'boolean' ? String(value) : value;
}

function costOf({ cost_nano_usd: cost }: UsageEventRow): string {
  return exactUsd(cost);
}

function tokensOf(event: UsageEventRow): number {
  const { input_tokens, cached_input_tokens, cache_write_tokens, output_tokens } = event;
  return Number(input_tokens) + Number(cached_input_tokens) + Number(cache_write_tokens) + Number(output_tokens);
}

function issuerOf({ provider_gateway_type: gateway, provider_type: type }: UsageEventRow): string {
  return gateway ?? type;
}

/** Groups are named as in breakdowns, so that none replaces another tag. */
function tagsOf({ user_id: user, endpoint_slug: endpoint, model, api_key_id: key, groups }: UsageEventRow): Tags {
  const own = Object.entries({ user, endpoint, model, key }).filter((tag): tag is [string, string] => tag[1] !== null);
  return Object.fromEntries([...own, ...Object.entries(groups ?? {}).map(([name, value]) => [`group:${name}`, value])]);
}

/** Start of the UTC hour of a time, or of a later one. */
function hourStart(at: UsageEventRow['created_at'], later: number): string {
  return toSeconds(instantOf((Math.floor(at.getTime() / HOUR_MS) + later) * HOUR_MS));
}

/** Start of the UTC month of a time, or of the month after it. */
function monthStart(at: UsageEventRow['created_at'], later: 0 | 1): string {
  const month = at.getUTCFullYear() * 12 + at.getUTCMonth() + later;
  const day = `${String(Math.floor(month / 12)).padStart(4, '0')}-${String((month % 12) + 1).padStart(2, '0')}-01`;
  return toSeconds(instantOf(dayStartMs(day)));
}

function toSeconds(at: UsageEventRow['created_at']): string {
  return at.toISOString().replace('.000Z', 'Z');
}
