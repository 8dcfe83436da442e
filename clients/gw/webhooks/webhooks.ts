import type { components } from '../../console/src/api/schema.d.ts';
import { type Api, read } from '../api/client.js';
import { sessionOf } from '../api/session.js';
import { keepingKey } from '../apps/app-changes.js';
import { appIdOf } from '../apps/apps.js';
import type { Action, Outcome } from '../program/command.js';
import { Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { listed } from '../program/lists.js';
import type { KeyFile } from '../state/key-file.js';
import { toSecond } from '../terminal/amounts.rules.js';
import { facts } from '../terminal/table.js';
import { printable } from '../terminal/terminal.js';
import { WEBHOOK_STATUSES } from './webhook-choices.js';

type Schemas = components['schemas'];
type Webhook = Schemas['WebhookResource'];

/** `gw webhook list` */
export const list: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const result = await read(api.GET('/v1/admin/webhooks'));
  const rows = result.webhooks.map((webhook) => [
    ...[webhook.name, webhook.url, webhook.events?.join(' ') ?? 'every event', statusOf(webhook), webhook.id],
  ]);
  const none = 'There are no webhooks. Add one: gw webhook create';
  return listed(gw, result, { headings: ['NAME', 'URL', 'EVENTS', 'STATUS', 'ID'], rows, none });
};

/** `gw webhook show` */
export const show: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  return shown(await webhookOf(api, gw.argument(0)));
};

/** `gw webhook create` */
export const create: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const body = { url: gw.required('url'), ...(await membersOf(gw, api)) };
  return keepingKey(gw.text('keyOutput'), undefined, async (file) => {
    const created = await read(api.POST('/v1/admin/webhooks', { body }));
    return withSecret(file, created, `Added ${printable(created.webhook.name)}.`);
  });
};

/** `gw webhook edit` */
export const edit: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const { id } = await webhookOf(api, gw.argument(0));
  const url = gw.text('url');
  const body = {
    ...(url !== undefined && { url }),
    ...(gw.flag('clearEvents') && { events: null }),
    ...(gw.flag('clearApps') && { apps: null }),
    ...(await membersOf(gw, api)),
  };
  if (Object.keys(body).length === 0) {
    const nextAction = 'List the options with --help.';
    throw Failure.input('nothing_to_change', 'No change was given.', { nextAction });
  }
  const { webhook } = await read(api.PATCH('/v1/admin/webhooks/{id}', { params: { path: { id } }, body }));
  return shown(webhook, `Changed ${printable(webhook.name)}.`);
};

/** `gw webhook rotate` */
export const rotate: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const { id } = await webhookOf(api, gw.argument(0));
  return keepingKey(gw.text('keyOutput'), id, async (file) => {
    const rotated = await read(api.POST('/v1/admin/webhooks/{id}/rotate', { params: { path: { id } } }));
    return withSecret(
      file,
      rotated,
      `${printable(rotated.webhook.name)} has a new secret; events are also signed with the old one for 24 hours.`,
    );
  });
};

/** `gw webhook delete` */
export const remove: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const { id, name } = await webhookOf(api, gw.argument(0));
  await gw.confirm(`Delete the webhook ${printable(name)} with its deliveries?`);
  const result = await read(api.DELETE('/v1/admin/webhooks/{id}', { params: { path: { id } } }));
  return { result, text: `Deleted ${printable(name)}.` };
};

/** A webhook by id or name. @throws Failure not found, or several have the name. */
export async function webhookOf(api: Api, named: string): Promise<Webhook> {
  const { webhooks } = await read(api.GET('/v1/admin/webhooks'));
  const found = webhooks.filter(({ id }) => id === named);
  const [webhook, ...others] = found.length > 0 ? found : webhooks.filter(({ name }) => name === named);
  if (webhook !== undefined && others.length === 0) return webhook;
  const nextAction = 'List them: gw webhook list';
  const message =
    webhook === undefined ? `There is no webhook "${named}".` : `Several webhooks are named "${named}"; use the id.`;
  throw Failure.input(webhook === undefined ? 'not_found' : 'ambiguous', message, { nextAction });
}

/** The options that creation and change share. The service validates their values. */
async function membersOf(
  gw: Invocation,
  api: Api,
): Promise<Pick<Schemas['UpdateWebhookRequest'], 'name' | 'events' | 'apps' | 'enabled'>> {
  const [name, events, apps] = [gw.text('name'), gw.texts('event'), gw.texts('app')];
  const status = gw.choice('status', WEBHOOK_STATUSES);
  return {
    ...(name !== undefined && { name }),
    ...(events !== undefined && { events: [...events] }),
    ...(apps !== undefined && { apps: await Promise.all(apps.map((app) => appIdOf(api, app))) }),
    ...(status !== undefined && { enabled: status === 'enabled' }),
  };
}

function withSecret(file: KeyFile, { webhook, secret }: Schemas['WebhookSecretResponse'], done: string): Outcome {
  const path = file.save(secret, webhook.id);
  return { ...shown(webhook, `${done} Its secret is in ${path}.`), result: { webhook, secret_file: path } };
}

function shown(webhook: Webhook, done?: string): Outcome {
  const { name, id, url, events, apps, previous_secret_until: until, created_at } = webhook;
  const values = {
    ...{ Name: name, Id: id, URL: url, Status: statusOf(webhook) },
    Events: events?.join(', ') ?? 'every event',
    Applications: apps?.join(', ') ?? 'all, and events without an application',
    ...(until !== null && { 'Old secret until': toSecond(until) }),
    Added: toSecond(created_at),
  };
  return { result: { webhook }, text: `${done === undefined ? '' : `${done}\n\n`}${facts(values)}` };
}

function statusOf({ enabled, disabled_reason: reason }: Webhook): string {
  if (enabled) return 'enabled';
  return reason === 'gone' ? 'disabled: answered 410' : 'disabled';
}
