import type { components } from '../../console/src/api/schema.d.ts';
import { given, read } from '../api/client.js';
import { sessionOf } from '../api/session.js';
import type { Action } from '../program/command.js';
import { EXIT } from '../program/failure.js';
import { listed, readById } from '../program/lists.js';
import { toSecond } from '../terminal/amounts.rules.js';
import { facts } from '../terminal/table.js';
import { printable } from '../terminal/terminal.js';
import { DELIVERY_STATUSES } from './webhook-choices.js';
import { webhookOf } from './webhooks.js';

type Delivery = components['schemas']['DeliveryResource'];

/** `gw webhook test` */
export const test: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const { id, name } = await webhookOf(api, gw.argument(0));
  const result = await read(api.POST('/v1/admin/webhooks/{id}/test', { params: { path: { id } } }));
  const isDelivered = result.delivery.status === 'delivered';
  const verdict = isDelivered ? 'accepted the event' : 'did not accept the event';
  return {
    result,
    text: `${printable(name)} ${verdict}: ${answerOf(result.delivery)}.`,
    colourOf: () => (isDelivered ? 'green' : 'red'),
    exitCode: isDelivered ? EXIT.ok : EXIT.difference,
  };
};

/** `gw webhook deliveries` */
export const list: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const { id } = await webhookOf(api, gw.argument(0));
  const filter = given({ status: gw.choice('status', DELIVERY_STATUSES) });
  const { result, note } = await readById(gw, 'deliveries', (page) =>
    read(api.GET('/v1/admin/webhooks/{id}/deliveries', { params: { path: { id }, query: { ...filter, ...page } } })),
  );
  const rows = result.deliveries.map((delivery) => [
    ...[toSecond(delivery.created_at), delivery.type, delivery.status, delivery.attempts],
    ...[delivery.attempts === 0 ? '-' : answerOf(delivery), delivery.id],
  ]);
  const none = `Nothing has been sent yet. Send a test: gw webhook test ${gw.argument(0)}`;
  return listed(gw, result, {
    headings: ['TIME', 'EVENT', 'STATUS', 'ATTEMPTS', 'LAST ANSWER', 'ID'],
    ...{ rows, none, filters: ['status', 'beforeId'], note },
  });
};

/** `gw webhook delivery` */
export const show: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const { id } = await webhookOf(api, gw.argument(0));
  const params = { path: { id, delivery: gw.argument(1) } };
  const result = await read(api.GET('/v1/admin/webhooks/{id}/deliveries/{delivery}', { params }));
  const { delivery, body } = result;
  const values = {
    ...{ Event: delivery.type, Status: delivery.status, Id: delivery.id, 'Webhook-Id': delivery.event_id },
    ...{ Attempts: delivery.attempts, 'Last answer': delivery.attempts === 0 ? '-' : answerOf(delivery) },
    Created: toSecond(delivery.created_at),
    ...(delivery.next_attempt_at !== null && { 'Next attempt': toSecond(delivery.next_attempt_at) }),
  };
  const lines = JSON.stringify(JSON.parse(body), null, 2).split('\n').map(printable);
  return { result, text: `${facts(values)}\n\n${lines.join('\n')}` };
};

/** `gw webhook resend` */
export const resend: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const { id, name } = await webhookOf(api, gw.argument(0));
  const params = { path: { id, delivery: gw.argument(1) } };
  const result = await read(api.POST('/v1/admin/webhooks/{id}/deliveries/{delivery}/resend', { params }));
  return { result, text: `${result.delivery.type} is sent to ${printable(name)} again.` };
};

function answerOf({ response_status: status, duration_ms: ms }: Delivery): string {
  return `${status ?? 'no answer'}${ms === null ? '' : ` in ${ms} ms`}`;
}
