import { Injectable } from '@nestjs/common';
import type { AdminPrincipal } from '../accounts/access/admin-principal.js';
import { Clock, instantOf } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { Ids } from '../common/ids.js';
import { eventBody, newEventId } from '../platform/outbox/outbox.js';
import { TEST_EVENT } from './event-types.js';
import { isDeliveryId } from './webhook.rules.js';
import {
  type DeliveryFilter,
  type DeliveryRow,
  type SentDelivery,
  WebhookDeliveriesRepository,
} from './webhook-deliveries.repository.js';
import { WebhookSender } from './webhook-sender.service.js';
import { WebhooksService } from './webhooks.service.js';

/** Longer than an attempt may take, so that the job does not send a test as well. */
const TEST_LEASE_MS = 60_000;

/** A page of deliveries, newest first. */
export interface DeliveryPage {
  readonly limit: number;
  readonly deliveries: readonly DeliveryRow[];
}

/**
 * The deliveries of webhooks, each call within the caller's own account. Source: docs/reference/webhooks.md#deliveries.
 */
@Injectable()
export class WebhookDeliveries {
  constructor(
    private readonly webhooks: WebhooksService,
    private readonly deliveries: WebhookDeliveriesRepository,
    private readonly sender: WebhookSender,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {}

  /**
   * Sends a `webhook.test` event once, regardless of the filters.
   *
   * @throws not_found; provider_unavailable the vault cannot open the secret.
   */
  async test(admin: AdminPrincipal, id: string): Promise<DeliveryRow> {
    const webhook = await this.webhooks.get(admin, id);
    const at = this.clock.now();
    const data = { account: admin.organizationId, webhook: id };
    const event = {
      ...{ id: newEventId(this.ids), organizationId: admin.organizationId, webhookId: id },
      ...{ type: TEST_EVENT, body: eventBody({ type: TEST_EVENT, at, data }), at },
      until: instantOf(at.getTime() + TEST_LEASE_MS),
    };
    const deliveryId = await this.deliveries.insertSingle(event);
    const attempt = await this.sender.attempt(webhook, { event_id: event.id, body: event.body });
    await this.deliveries.recordTest(deliveryId, attempt, this.clock.now());
    return this.requireDelivery(id, deliveryId);
  }

  /** @throws not_found. */
  async list(admin: AdminPrincipal, id: string, filter: DeliveryFilter): Promise<DeliveryPage> {
    await this.webhooks.get(admin, id);
    return { limit: filter.limit, deliveries: await this.deliveries.list(id, filter) };
  }

  /** One delivery with what it sends. @throws not_found. */
  async get(admin: AdminPrincipal, id: string, deliveryId: string): Promise<SentDelivery> {
    await this.webhooks.get(admin, id);
    const row = isDeliveryId(deliveryId) ? await this.deliveries.findSent(id, deliveryId) : undefined;
    if (row === undefined) throw noSuchDelivery();
    return row;
  }

  /** @throws not_found; conflict the webhook is disabled. */
  async resend(admin: AdminPrincipal, id: string, deliveryId: string): Promise<DeliveryRow> {
    const webhook = await this.webhooks.get(admin, id);
    if (!webhook.enabled) {
      throw new GatewayError('conflict', {
        message: 'The webhook is disabled; enable it first.',
        reason: 'webhook_disabled',
      });
    }
    await this.requireDelivery(id, deliveryId);
    await this.deliveries.resend(id, deliveryId, this.clock.now());
    return this.requireDelivery(id, deliveryId);
  }

  private async requireDelivery(webhookId: string, id: string): Promise<DeliveryRow> {
    const row = isDeliveryId(id) ? await this.deliveries.find(webhookId, id) : undefined;
    if (row === undefined) throw noSuchDelivery();
    return row;
  }
}

function noSuchDelivery(): GatewayError {
  return new GatewayError('not_found', { message: 'The webhook has no such delivery.' });
}
