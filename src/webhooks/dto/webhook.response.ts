import { ApiProperty } from '@nestjs/swagger';
import { nextBeforeId } from '../../common/fields/list-fields.js';
import { EVENT_TYPES } from '../event-types.js';
import type { WebhookDisabledReason, WebhookRow } from '../webhook.entity.js';
import {
  DELIVERY_STATUSES,
  type DeliveryRow,
  type DeliveryStatus,
  type SentDelivery,
} from '../webhook-deliveries.repository.js';
import type { DeliveryPage } from '../webhook-deliveries.service.js';
import type { CreatedWebhook } from '../webhooks.service.js';

class WebhookResource {
  @ApiProperty({ type: 'string', example: 'wh_0a1b2c3d4e5f6g7h8i9j' })
  id: string;

  @ApiProperty({ type: 'string' })
  name: string;

  @ApiProperty({ type: 'string' })
  url: string;

  @ApiProperty({ type: 'array', items: { type: 'string' }, nullable: true, description: 'Null: every event.' })
  events: readonly string[] | null;

  @ApiProperty({
    type: 'array',
    items: { type: 'string' },
    nullable: true,
    description: 'Ids of applications. Null: every event.',
  })
  apps: readonly string[] | null;

  @ApiProperty({ type: 'boolean' })
  enabled: boolean;

  @ApiProperty({
    type: 'string',
    enum: ['gone'],
    nullable: true,
    description: '`gone`: the endpoint answered 410, so the gateway disabled the webhook.',
  })
  disabled_reason: WebhookDisabledReason | null;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    nullable: true,
    description: 'Until then events are also signed with the previous secret.',
  })
  previous_secret_until: string | null;

  @ApiProperty({ type: 'string', format: 'date-time' })
  created_at: string;

  @ApiProperty({ type: 'string', format: 'date-time' })
  updated_at: string;

  static from(row: WebhookRow): WebhookResource {
    return Object.assign(new WebhookResource(), {
      id: row.id,
      name: row.name,
      url: row.url,
      events: row.events,
      apps: row.appIds,
      enabled: row.enabled,
      disabled_reason: row.disabledReason,
      previous_secret_until: row.previousUntil?.toISOString() ?? null,
      created_at: row.createdAt.toISOString(),
      updated_at: row.updatedAt.toISOString(),
    });
  }
}

export class WebhookResponse {
  @ApiProperty({ type: WebhookResource })
  webhook: WebhookResource;

  static from(row: WebhookRow): WebhookResponse {
    return Object.assign(new WebhookResponse(), { webhook: WebhookResource.from(row) });
  }
}

export class WebhookSecretResponse {
  @ApiProperty({ type: WebhookResource })
  webhook: WebhookResource;

  @ApiProperty({
    type: 'string',
    description: 'Verifies signatures. Shown only once.',
    example: 'whsec_bm90IGEgc2VjcmV0',
  })
  secret: string;

  static from({ row, secret }: CreatedWebhook): WebhookSecretResponse {
    return Object.assign(new WebhookSecretResponse(), { webhook: WebhookResource.from(row), secret: secret.reveal() });
  }
}

class EventTypeResource {
  @ApiProperty({ type: 'string', example: 'app_key.created' })
  type: string;

  @ApiProperty({
    type: 'string',
    description: 'What happened, as a sentence.',
    example: 'An application key was created.',
  })
  means: string;
}

export class WebhookListResponse {
  @ApiProperty({ type: [WebhookResource], description: 'Oldest first.' })
  webhooks: WebhookResource[];

  @ApiProperty({
    type: [EventTypeResource],
    description: 'What `events` may list; a prefix such as `app_key.*` stands for all with it.',
  })
  event_types: EventTypeResource[];

  static from(rows: readonly WebhookRow[]): WebhookListResponse {
    return Object.assign(new WebhookListResponse(), {
      webhooks: rows.map(WebhookResource.from),
      event_types: Object.entries(EVENT_TYPES).map(([type, { means }]) => ({ type, means })),
    });
  }
}

export class DeletedWebhookResponse {
  @ApiProperty({ type: 'boolean', enum: [true] })
  deleted: boolean;

  @ApiProperty({ type: 'string' })
  webhook_id: string;

  static from(id: string): DeletedWebhookResponse {
    return Object.assign(new DeletedWebhookResponse(), { deleted: true, webhook_id: id });
  }
}

class DeliveryResource {
  @ApiProperty({ type: 'integer', description: 'Increases with time; the cursor of the list.' })
  id: number;

  @ApiProperty({ type: 'string', description: '`webhook-id` of the request; the same at each attempt.' })
  event_id: string;

  @ApiProperty({ type: 'string', example: 'app_key.created' })
  type: string;

  @ApiProperty({
    type: 'string',
    enum: [...DELIVERY_STATUSES],
    description: '`failed`: no attempt of three days succeeded. `disabled`: the webhook was disabled first.',
  })
  status: DeliveryStatus;

  @ApiProperty({ type: 'integer', minimum: 0 })
  attempts: number;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Of the last attempt; null: there was no answer.' })
  response_status: number | null;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Of the last attempt.' })
  duration_ms: number | null;

  @ApiProperty({ type: 'string', format: 'date-time' })
  created_at: string;

  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, description: 'Null unless pending.' })
  next_attempt_at: string | null;

  static from(row: DeliveryRow): DeliveryResource {
    return Object.assign(new DeliveryResource(), {
      ...row,
      id: Number(row.id),
      created_at: row.created_at.toISOString(),
      next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
    });
  }
}

export class DeliveryResponse {
  @ApiProperty({ type: DeliveryResource })
  delivery: DeliveryResource;

  static from(row: DeliveryRow): DeliveryResponse {
    return Object.assign(new DeliveryResponse(), { delivery: DeliveryResource.from(row) });
  }
}

export class SentDeliveryResponse {
  @ApiProperty({ type: DeliveryResource })
  delivery: DeliveryResource;

  @ApiProperty({ type: 'string', description: 'The JSON that each attempt sends, exactly as it is signed.' })
  body: string;

  static from({ body, ...row }: SentDelivery): SentDeliveryResponse {
    return Object.assign(new SentDeliveryResponse(), { delivery: DeliveryResource.from(row), body });
  }
}

export class DeliveriesResponse {
  @ApiProperty({ type: 'integer' })
  limit: number;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Null: there are no older deliveries.' })
  next_before_id: number | null;

  @ApiProperty({ type: [DeliveryResource], description: 'Newest first.' })
  deliveries: DeliveryResource[];

  static from({ limit, deliveries }: DeliveryPage): DeliveriesResponse {
    return Object.assign(new DeliveriesResponse(), {
      limit,
      next_before_id: nextBeforeId(deliveries, limit),
      deliveries: deliveries.map(DeliveryResource.from),
    });
  }
}
