import { Module } from '@nestjs/common';
import { AccessModule } from '../accounts/access/access.module.js';
import { WebhookDeliveriesRepository } from './webhook-deliveries.repository.js';
import { WebhookDeliveries } from './webhook-deliveries.service.js';
import { WebhookSecrets } from './webhook-secrets.js';
import { WebhookSender } from './webhook-sender.service.js';
import { WebhooksController } from './webhooks.controller.js';
import { WebhooksRepository } from './webhooks.repository.js';
import { WebhooksService } from './webhooks.service.js';

/**
 * Endpoints of accounts that receive events, and the deliveries to them.
 *
 * Tables: webhooks; webhook_events and webhook_deliveries, to which `Outbox` of the platform adds. Routes:
 * `/v1/admin/webhooks*`. Codes: invalid_request, not_found, conflict, provider_unavailable. Log lines:
 * webhook_disabled, webhook_deliveries_failed.
 */
@Module({
  imports: [AccessModule],
  controllers: [WebhooksController],
  providers: [
    WebhookDeliveries,
    WebhookDeliveriesRepository,
    WebhookSecrets,
    WebhookSender,
    WebhooksRepository,
    WebhooksService,
  ],
})
export class WebhooksModule {}
