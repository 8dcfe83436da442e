import { ApiProperty } from '@nestjs/swagger';
import { instantOf } from '../../../common/clock.js';
import { nextBeforeId } from '../../../common/fields/list-fields.js';
import {
  AUTH_METHODS,
  type AuthMethod,
  COST_SOURCES,
  type CostSource,
  CREDENTIAL_SOURCES,
  type CredentialSource,
  USAGE_STATUSES,
  type UsageStatus,
} from '../../recording/usage-event.js';
import type { RefusalRow, UsageAttemptRow, UsageEventRow } from '../../recording/usage-rows.js';
import type { UsageEventPage } from '../usage-reports.service.js';
import { estimateOf, toUsd } from '../usage-totals.rules.js';

export class UsageAttemptResponse {
  @ApiProperty({ type: 'string', description: 'The provider instance.' })
  provider_slug: string;

  @ApiProperty({ type: 'string' })
  model: string;

  @ApiProperty({ type: 'integer', nullable: true, description: 'HTTP status of its answer; null without one.' })
  status: number | null;

  @ApiProperty({ type: 'integer', description: 'Milliseconds to its first byte, or to its failure.' })
  latency_ms: number;

  @ApiProperty({ type: 'string', nullable: true, description: 'The error, if the status does not say it.' })
  error: string | null;

  static from({ provider_slug, model, status, latency_ms, error }: UsageAttemptRow): UsageAttemptResponse {
    return Object.assign(new UsageAttemptResponse(), { provider_slug, model, status, latency_ms, error });
  }
}

export class RefusalResponse {
  @ApiProperty({ type: 'string', description: 'The error code that the client got.' })
  code: string;

  @ApiProperty({ type: 'string', nullable: true, description: 'The reason as in the log; null without one.' })
  reason: string | null;

  @ApiProperty({ type: 'string', description: 'What the client was told, at the first refusal of the row.' })
  message: string;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    nullable: true,
    description: 'When the limit is free again; null where only a change of the request or the configuration helps.',
  })
  until: string | null;

  static from({ code, reason = '', message, until_ms: untilMs }: RefusalRow): RefusalResponse {
    const until = untilMs === undefined ? null : instantOf(untilMs).toISOString();
    return Object.assign(new RefusalResponse(), { code, reason: reason === '' ? null : reason, message, until });
  }
}

export class UsageEventResponse {
  @ApiProperty({ type: 'integer', description: 'Increases with time; the cursor of the list.' })
  id: number;

  @ApiProperty({ type: 'string' })
  app_id: string;

  @ApiProperty({ type: 'string', nullable: true })
  user_id: string | null;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'The application key used, directly or through a token.',
  })
  api_key_id: string | null;

  @ApiProperty({ type: 'string', description: 'Type of the provider; `(none)`: refused before one was chosen.' })
  provider: string;

  @ApiProperty({ type: 'string', nullable: true, description: 'The provider instance.' })
  provider_slug: string | null;

  @ApiProperty({ type: 'string', nullable: true, description: 'Null: the provider was called directly.' })
  provider_gateway_id: string | null;

  @ApiProperty({ type: 'string', nullable: true })
  provider_gateway_type: string | null;

  @ApiProperty({
    type: 'string',
    enum: [...CREDENTIAL_SOURCES, null],
    nullable: true,
    description: 'Whose key was used.',
  })
  credential_source: CredentialSource | null;

  @ApiProperty({ type: 'string', nullable: true })
  model_author: string | null;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'Who served it, if a provider routes requests to others.',
  })
  served_provider: string | null;

  @ApiProperty({ type: 'string', nullable: true })
  served_model: string | null;

  @ApiProperty({
    type: 'string',
    description: 'The canonical model, after rewrites; `(none)`: the request names no model, or it was refused.',
  })
  model: string;

  @ApiProperty({ type: 'string', description: 'Provider instance and path.' })
  route: string;

  @ApiProperty({ type: 'string', nullable: true, description: 'The named endpoint, if one was called.' })
  endpoint_slug: string | null;

  @ApiProperty({ type: 'integer' })
  input_tokens: number;

  @ApiProperty({ type: 'integer' })
  cached_input_tokens: number;

  @ApiProperty({ type: 'integer' })
  cache_write_tokens: number;

  @ApiProperty({ type: 'integer' })
  output_tokens: number;

  @ApiProperty({ type: 'number', description: 'US dollars; the known part of it when `cost_source` is unresolved.' })
  cost_usd: number;

  @ApiProperty({
    type: 'number',
    minimum: 0,
    description: 'Estimate in US dollars beside `cost_usd`, where the usage is unknown; counts against budgets.',
  })
  estimated_cost_usd: number;

  @ApiProperty({ type: 'number', nullable: true, description: 'US dollars, as reported by the provider.' })
  reported_cost_usd: number | null;

  @ApiProperty({ type: 'string', enum: [...COST_SOURCES, null], nullable: true })
  cost_source: CostSource | null;

  @ApiProperty({ type: 'string', nullable: true })
  app_version: string | null;

  @ApiProperty({ type: 'string', enum: [...AUTH_METHODS, null], nullable: true })
  auth_method: AuthMethod | null;

  @ApiProperty({ type: 'string', enum: [...USAGE_STATUSES] })
  status: UsageStatus;

  @ApiProperty({
    type: 'integer',
    minimum: 1,
    description: 'Requests of this row: 1, or all refusals of one caller for one reason within a minute.',
  })
  requests: number;

  @ApiProperty({
    type: 'integer',
    enum: [1, null],
    nullable: true,
    description: '1: the client disconnected before the end. Null also if the service stopped before.',
  })
  client_aborted: 1 | null;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Milliseconds to the first byte of the answer.' })
  latency_ms: number | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Milliseconds to the last byte of the answer; null unless it was complete.',
  })
  duration_ms: number | null;

  @ApiProperty({
    type: [UsageAttemptResponse],
    nullable: true,
    description:
      'The targets of a named endpoint that were tried, in order. The event describes the one whose answer the client got, otherwise the last. Null if only one was tried.',
  })
  attempts: UsageAttemptResponse[] | null;

  @ApiProperty({ type: 'string', format: 'date-time' })
  created_at: string;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    nullable: true,
    description: 'When its estimate was settled by an administrator. Null: not settled.',
  })
  settled_at: string | null;

  @ApiProperty({
    type: RefusalResponse,
    nullable: true,
    description: 'Why it was refused; null for calls, and for refusals recorded by earlier versions.',
  })
  refusal: RefusalResponse | null;

  static from(row: UsageEventRow): UsageEventResponse {
    return Object.assign(new UsageEventResponse(), {
      id: Number(row.id),
      app_id: row.app_id,
      user_id: row.user_id,
      api_key_id: row.api_key_id,
      provider: row.provider_type,
      provider_slug: row.provider_slug,
      provider_gateway_id: row.provider_gateway_id,
      provider_gateway_type: row.provider_gateway_type,
      credential_source: row.credential_source,
      model_author: row.model_author,
      served_provider: row.served_provider,
      served_model: row.served_model,
      model: row.model,
      route: row.route,
      endpoint_slug: row.endpoint_slug,
      input_tokens: Number(row.input_tokens),
      cached_input_tokens: Number(row.cached_input_tokens),
      cache_write_tokens: Number(row.cache_write_tokens),
      output_tokens: Number(row.output_tokens),
      cost_usd: toUsd(row.cost_nano_usd),
      estimated_cost_usd: toUsd(estimateOf(row)),
      reported_cost_usd: row.reported_cost_nano_usd === null ? null : toUsd(row.reported_cost_nano_usd),
      cost_source: row.cost_source,
      app_version: row.app_version,
      auth_method: row.auth_method,
      status: row.status,
      requests: row.requests,
      client_aborted: row.client_aborted ? 1 : null,
      latency_ms: row.latency_ms,
      duration_ms: row.duration_ms,
      attempts: row.attempts?.map(UsageAttemptResponse.from) ?? null,
      created_at: row.created_at.toISOString(),
      settled_at: row.settled_at?.toISOString() ?? null,
      refusal: row.refusal === null ? null : RefusalResponse.from(row.refusal),
    });
  }
}

export class UsageEventsResponse {
  @ApiProperty({ type: 'string' })
  app_id: string;

  @ApiProperty({ type: 'integer' })
  limit: number;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Null: there are no older events.' })
  next_before_id: number | null;

  @ApiProperty({ type: [UsageEventResponse], description: 'Newest first.' })
  events: UsageEventResponse[];

  static from({ appId, limit, events }: UsageEventPage): UsageEventsResponse {
    return Object.assign(new UsageEventsResponse(), {
      app_id: appId,
      limit,
      next_before_id: nextBeforeId(events, limit),
      events: events.map(UsageEventResponse.from),
    });
  }
}
