import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { Admin, AdminAccess } from '../accounts/access/admin-access.decorator.js';
import type { AdminPrincipal } from '../accounts/access/admin-principal.js';
import { Fails, Operation } from '../common/http/openapi.decorators.js';
import { CreateWebhookRequest, ListDeliveriesRequest, UpdateWebhookRequest } from './dto/webhook.request.js';
import {
  DeletedWebhookResponse,
  DeliveriesResponse,
  DeliveryResponse,
  SentDeliveryResponse,
  WebhookListResponse,
  WebhookResponse,
  WebhookSecretResponse,
} from './dto/webhook.response.js';
import { WebhookDeliveries } from './webhook-deliveries.service.js';
import { WebhooksService } from './webhooks.service.js';

const TAG = 'Admin webhooks';

@Controller('v1/admin/webhooks')
export class WebhooksController {
  constructor(
    private readonly webhooks: WebhooksService,
    private readonly deliveries: WebhookDeliveries,
  ) {}

  @Get()
  @AdminAccess('read')
  @Operation({ id: 'listWebhooks', tag: TAG, summary: 'List the webhooks of the account' })
  @ApiOkResponse({ type: WebhookListResponse })
  async list(@Admin() admin: AdminPrincipal): Promise<WebhookListResponse> {
    return WebhookListResponse.from(await this.webhooks.list(admin));
  }

  @Post()
  @AdminAccess('write')
  @Operation({
    id: 'createWebhook',
    tag: TAG,
    summary: 'Add a webhook',
    description: 'At most 20. Events are signed by the Standard Webhooks convention; the secret is shown once.',
  })
  @Fails('invalid_request', 'conflict', 'provider_unavailable')
  @ApiCreatedResponse({ type: WebhookSecretResponse })
  async create(@Admin() admin: AdminPrincipal, @Body() body: CreateWebhookRequest): Promise<WebhookSecretResponse> {
    return WebhookSecretResponse.from(await this.webhooks.create(admin, body));
  }

  @Get(':id')
  @AdminAccess('read')
  @Operation({ id: 'getWebhook', tag: TAG, summary: 'Read a webhook' })
  @Fails('invalid_request', 'not_found')
  @ApiOkResponse({ type: WebhookResponse })
  async get(@Admin() admin: AdminPrincipal, @Param('id') id: string): Promise<WebhookResponse> {
    return WebhookResponse.from(await this.webhooks.get(admin, id));
  }

  @Patch(':id')
  @AdminAccess('write')
  @Operation({
    id: 'updateWebhook',
    tag: TAG,
    summary: 'Change a webhook',
    description: 'Absent members stay. `enabled: true` also enables a webhook that the gateway disabled.',
  })
  @Fails('invalid_request', 'not_found')
  @ApiOkResponse({ type: WebhookResponse })
  async update(
    @Admin() admin: AdminPrincipal,
    @Param('id') id: string,
    @Body() body: UpdateWebhookRequest,
  ): Promise<WebhookResponse> {
    return WebhookResponse.from(await this.webhooks.update(admin, id, body));
  }

  @Post(':id/rotate')
  @AdminAccess('write')
  @HttpCode(200)
  @Operation({
    id: 'rotateWebhookSecret',
    tag: TAG,
    summary: 'Replace the secret of a webhook',
    description: 'For a day both secrets sign, so that the receiver can replace its own. The new one is shown once.',
  })
  @Fails('invalid_request', 'not_found', 'provider_unavailable')
  @ApiOkResponse({ type: WebhookSecretResponse })
  async rotate(@Admin() admin: AdminPrincipal, @Param('id') id: string): Promise<WebhookSecretResponse> {
    return WebhookSecretResponse.from(await this.webhooks.rotate(admin, id));
  }

  @Delete(':id')
  @AdminAccess('write')
  @Operation({ id: 'deleteWebhook', tag: TAG, summary: 'Delete a webhook with its deliveries' })
  @Fails('invalid_request', 'not_found')
  @ApiOkResponse({ type: DeletedWebhookResponse })
  async delete(@Admin() admin: AdminPrincipal, @Param('id') id: string): Promise<DeletedWebhookResponse> {
    await this.webhooks.delete(admin, id);
    return DeletedWebhookResponse.from(id);
  }

  @Post(':id/test')
  @AdminAccess('write')
  @HttpCode(200)
  @Operation({
    id: 'testWebhook',
    tag: TAG,
    summary: 'Send a test event now',
    description:
      'One attempt of type `webhook.test`, regardless of the filters. Every outcome is returned as a result, not as ' +
      'an error.',
  })
  @Fails('invalid_request', 'not_found', 'provider_unavailable')
  @ApiOkResponse({ type: DeliveryResponse })
  async test(@Admin() admin: AdminPrincipal, @Param('id') id: string): Promise<DeliveryResponse> {
    return DeliveryResponse.from(await this.deliveries.test(admin, id));
  }

  @Get(':id/deliveries')
  @AdminAccess('read')
  @Operation({
    id: 'listWebhookDeliveries',
    tag: TAG,
    summary: 'List the deliveries of a webhook',
    description: 'Newest first, of the last 30 days. Pass `next_before_id` as `before_id` to get the next page.',
  })
  @Fails('invalid_request', 'not_found')
  @ApiOkResponse({ type: DeliveriesResponse })
  async listDeliveries(
    @Admin() admin: AdminPrincipal,
    @Param('id') id: string,
    @Query() query: ListDeliveriesRequest,
  ): Promise<DeliveriesResponse> {
    return DeliveriesResponse.from(await this.deliveries.list(admin, id, query.toFilter()));
  }

  @Get(':id/deliveries/:delivery')
  @AdminAccess('read')
  @Operation({
    id: 'getWebhookDelivery',
    tag: TAG,
    summary: 'Read a delivery with its body',
    description: 'For 30 days. The body has no secret.',
  })
  @ApiParam({ name: 'delivery', description: 'Id of the delivery.', schema: { type: 'string' } })
  @Fails('invalid_request', 'not_found')
  @ApiOkResponse({ type: SentDeliveryResponse })
  async getDelivery(
    @Admin() admin: AdminPrincipal,
    @Param('id') id: string,
    @Param('delivery') delivery: string,
  ): Promise<SentDeliveryResponse> {
    return SentDeliveryResponse.from(await this.deliveries.get(admin, id, delivery));
  }

  @Post(':id/deliveries/:delivery/resend')
  @AdminAccess('write')
  @HttpCode(200)
  @Operation({
    id: 'resendWebhookDelivery',
    tag: TAG,
    summary: 'Send a delivery again',
    description: 'Within a second, with the same `webhook-id`.',
  })
  @ApiParam({ name: 'delivery', description: 'Id of the delivery.', schema: { type: 'string' } })
  @Fails('invalid_request', 'not_found', 'conflict')
  @ApiOkResponse({ type: DeliveryResponse })
  async resend(
    @Admin() admin: AdminPrincipal,
    @Param('id') id: string,
    @Param('delivery') delivery: string,
  ): Promise<DeliveryResponse> {
    return DeliveryResponse.from(await this.deliveries.resend(admin, id, delivery));
  }
}
