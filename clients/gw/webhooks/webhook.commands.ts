import { answerOf, type Command, component, members } from '../program/command.js';
import { BY_ID } from '../program/list-options.js';
import { DELIVERY_STATUSES, WEBHOOK_STATUSES } from './webhook-choices.js';

const WEBHOOK = [['<webhook>', 'id or name of the webhook']] as const;
const DELIVERY = [...WEBHOOK, ['<delivery>', 'id of the delivery']] as const;
const KEY_OUTPUT = [
  '--key-output <path>',
  'new file, or folder, for the secret (0600); existing files are never overwritten',
] as const;
const FILTERS = [
  ['--event <type...>', 'only these types, such as app_key.created, or app_key.* for all with that prefix'],
  ['--app <app...>', 'only events about these applications, by id or handle'],
] as const;
const WITH_SECRET = members({ webhook: component('WebhookResource'), secret_file: { type: 'string' } });
const ONE = answerOf('GET /v1/admin/webhooks/{id}');

/** Commands for webhooks. */
export const webhookCommands: readonly Command[] = [
  {
    name: 'webhook list',
    summary: 'List the webhooks',
    details: 'With --json, the result includes the event types.',
    examples: ['gw webhook list', 'gw webhook list --json'],
    result: answerOf('GET /v1/admin/webhooks'),
    load: async () => (await import('./webhooks.js')).list,
  },
  {
    name: 'webhook show',
    summary: 'Show a webhook',
    arguments: WEBHOOK,
    examples: ['gw webhook show on-call'],
    result: ONE,
    load: async () => (await import('./webhooks.js')).show,
  },
  {
    name: 'webhook create',
    aliases: ['webhook add'],
    summary: 'Add a webhook',
    details: 'The secret that verifies its signatures is written to --key-output and never shown.',
    options: [
      ['--url <url>', 'https, on a public host'],
      ['--name <name>', 'for people; the host of the URL by default'],
      ...FILTERS,
      ['--status <status>', 'enabled by default', WEBHOOK_STATUSES],
      KEY_OUTPUT,
    ],
    examples: [
      'gw webhook create --url https://hooks.example.com/gateway --key-output webhook.key',
      "gw webhook create --url https://hooks.example.com/keys --event 'app_key.*' --event member.joined --app notes --key-output keys.key",
    ],
    result: WITH_SECRET,
    load: async () => (await import('./webhooks.js')).create,
  },
  {
    name: 'webhook edit',
    aliases: ['webhook update'],
    summary: 'Change a webhook; omitted options stay',
    details: 'While it is disabled, no event is sent, and pending deliveries are dropped.',
    arguments: WEBHOOK,
    options: [
      ['--url <url>', 'where events are sent'],
      ['--name <name>', 'for people'],
      ...FILTERS,
      ['--clear-events', 'every event'],
      ['--clear-apps', 'events about every application, and events without one'],
      ['--status <status>', 'whether events are sent', WEBHOOK_STATUSES],
    ],
    examples: [
      "gw webhook edit on-call --event 'app_key.*' --event member.joined",
      'gw webhook edit on-call --status disabled',
    ],
    result: ONE,
    load: async () => (await import('./webhooks.js')).edit,
  },
  {
    name: 'webhook rotate',
    summary: 'Replace the secret of a webhook',
    details:
      'For 24 hours events are also signed with the old secret. The new one is written to --key-output and ' +
      'never shown.',
    arguments: WEBHOOK,
    options: [KEY_OUTPUT],
    examples: ['gw webhook rotate on-call --key-output on-call.key'],
    result: WITH_SECRET,
    load: async () => (await import('./webhooks.js')).rotate,
  },
  {
    name: 'webhook test',
    summary: 'Send a test event to a webhook',
    details: 'One attempt, regardless of the filters. Exits with 1 if the endpoint does not accept it.',
    arguments: WEBHOOK,
    examples: ['gw webhook test on-call'],
    result: answerOf('POST /v1/admin/webhooks/{id}/test'),
    load: async () => (await import('./deliveries.js')).test,
  },
  {
    name: 'webhook deliveries',
    summary: 'List the deliveries of a webhook, newest first',
    details: 'Covers the last 30 days.',
    arguments: WEBHOOK,
    options: [['--status <status>', 'only those with this status', DELIVERY_STATUSES], ...BY_ID],
    examples: ['gw webhook deliveries on-call', 'gw webhook deliveries on-call --status failed --json'],
    result: answerOf('GET /v1/admin/webhooks/{id}/deliveries'),
    load: async () => (await import('./deliveries.js')).list,
  },
  {
    name: 'webhook delivery',
    summary: 'Show a delivery with the body that is sent',
    arguments: DELIVERY,
    examples: ['gw webhook delivery on-call "$DELIVERY"', 'gw webhook delivery on-call "$DELIVERY" --json'],
    result: answerOf('GET /v1/admin/webhooks/{id}/deliveries/{delivery}'),
    load: async () => (await import('./deliveries.js')).show,
  },
  {
    name: 'webhook resend',
    summary: 'Send a delivery again',
    arguments: DELIVERY,
    examples: ['gw webhook resend on-call "$DELIVERY"'],
    result: answerOf('POST /v1/admin/webhooks/{id}/deliveries/{delivery}/resend'),
    load: async () => (await import('./deliveries.js')).resend,
  },
  {
    name: 'webhook delete',
    aliases: ['webhook remove'],
    summary: 'Delete a webhook with its deliveries',
    details: 'Asks for confirmation, or needs --yes.',
    arguments: WEBHOOK,
    options: [['--yes', 'do not ask']],
    examples: ['gw webhook delete on-call --yes'],
    result: answerOf('DELETE /v1/admin/webhooks/{id}'),
    load: async () => (await import('./webhooks.js')).remove,
  },
];
