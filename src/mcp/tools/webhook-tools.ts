import {
  CreateWebhookRequest,
  ListDeliveriesRequest,
  UpdateWebhookRequest,
} from '../../webhooks/dto/webhook.request.js';
import { WebhooksController } from '../../webhooks/webhooks.controller.js';
import { counted, quoted, type Tool, tool } from './tool.js';

const WEBHOOK_ID = { id: 'Id of the webhook.' };
const SEEN_BY_PERSON = 'The secret that verifies signatures is shown to a person only, who rotates it in the console.';

/** Tools of webhooks. No result contains a secret: a person rotates it in the console, where it is shown once. */
export const WEBHOOK_TOOLS: readonly Tool[] = [
  tool({
    name: 'list_webhooks',
    title: 'List webhooks',
    description: 'The webhooks of the account, and every type of event.',
    route: [WebhooksController, 'list'],
    run: (webhooks, { admin }) => webhooks.list(admin),
    summary: ({ webhooks }) => `${counted(webhooks.length, 'webhook')}.`,
  }),
  tool({
    name: 'get_webhook',
    title: 'Read a webhook',
    route: [WebhooksController, 'get'],
    named: WEBHOOK_ID,
    run: (webhooks, { admin, named: { id = '' } }) => webhooks.get(admin, id),
    summary: ({ webhook }) => `${quoted(webhook.name)} is ${webhook.enabled ? 'enabled' : 'disabled'}.`,
  }),
  tool({
    name: 'add_webhook',
    title: 'Add a webhook',
    description: `At most 20. ${SEEN_BY_PERSON}`,
    route: [WebhooksController, 'create'],
    input: CreateWebhookRequest,
    run: async (webhooks, { admin, input }) => {
      const { webhook } = await webhooks.create(admin, input);
      const next = `Nobody has seen its secret. Ask the person to open /webhooks/${webhook.id} in the console and to rotate it: the new one is shown there once.`;
      return { webhook, next };
    },
    summary: ({ webhook }) => `The webhook ${webhook.id} is added.`,
  }),
  tool({
    name: 'update_webhook',
    title: 'Change a webhook',
    route: [WebhooksController, 'update'],
    named: WEBHOOK_ID,
    input: UpdateWebhookRequest,
    destructive: true,
    run: (webhooks, { admin, named: { id = '' }, input }) => webhooks.update(admin, id, input),
    summary: ({ webhook }) => `The webhook ${webhook.id} is ${webhook.enabled ? 'enabled' : 'disabled'}.`,
  }),
  tool({
    name: 'test_webhook',
    title: 'Send a test event to a webhook',
    route: [WebhooksController, 'test'],
    named: WEBHOOK_ID,
    run: (webhooks, { admin, named: { id = '' } }) => webhooks.test(admin, id),
    summary: ({ delivery }) => `The test is ${delivery.status}, status ${delivery.response_status ?? 'none'}.`,
  }),
  tool({
    name: 'list_webhook_deliveries',
    title: 'List what was sent to a webhook',
    route: [WebhooksController, 'listDeliveries'],
    named: WEBHOOK_ID,
    input: ListDeliveriesRequest,
    run: (webhooks, { admin, named: { id = '' }, input }) => webhooks.listDeliveries(admin, id, input),
    summary: ({ deliveries }) => `${deliveries.length} deliveries.`,
  }),
  tool({
    name: 'get_webhook_delivery',
    title: 'Read a delivery with its body',
    route: [WebhooksController, 'getDelivery'],
    named: { ...WEBHOOK_ID, delivery: 'Id of the delivery.' },
    run: (webhooks, { admin, named: { id = '', delivery = '' } }) => webhooks.getDelivery(admin, id, delivery),
    summary: ({ delivery }) => `The delivery of ${delivery.type} is ${delivery.status}.`,
  }),
  tool({
    name: 'resend_webhook_delivery',
    title: 'Send a delivery again',
    route: [WebhooksController, 'resend'],
    named: { ...WEBHOOK_ID, delivery: 'Id of the delivery.' },
    run: (webhooks, { admin, named: { id = '', delivery = '' } }) => webhooks.resend(admin, id, delivery),
    summary: ({ delivery }) => `The delivery ${delivery.id} is ${delivery.status}.`,
  }),
  tool({
    name: 'remove_webhook',
    title: 'Delete a webhook with its deliveries',
    route: [WebhooksController, 'delete'],
    named: WEBHOOK_ID,
    confirms: 'id',
    destructive: true,
    run: (webhooks, { admin, named: { id = '' } }) => webhooks.delete(admin, id),
    summary: ({ webhook_id }) => `The webhook ${webhook_id} is deleted.`,
  }),
];
