import type { components } from '../../console/src/api/schema.d.ts';
import { type Api, given, read } from '../api/client.js';
import { sessionOf } from '../api/session.js';
import { appIdOf } from '../apps/apps.js';
import type { Action } from '../program/command.js';
import { Failure } from '../program/failure.js';
import { listed, readById } from '../program/lists.js';
import { toSecond } from '../terminal/amounts.rules.js';

type AuditEvent = components['schemas']['AuditEventResponse'];

/** `gw audit list` */
export const list: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const app = gw.text('app');
  const filter = given({
    ...{ action: gw.text('action'), actor_id: gw.text('actor'), from: gw.text('from'), to: gw.text('to') },
    app_id: app === undefined ? undefined : await auditedAppId(api, app),
  });
  const { result, note } = await readById(gw, 'events', (page) =>
    read(api.GET('/v1/admin/audit-events', { params: { query: { ...filter, ...page } } })),
  );
  const rows = result.events.map(({ created_at, action, actor, target, details, changes }) => [
    ...[toSecond(created_at), action, actor.name ?? actor.id, actor.action_source],
    ...[`${target.type} ${nameIn(details) ?? target.id}`, changes.map(changeText).join('; ')],
  ]);
  const none = 'There are no changes in the last 90 days.';
  return listed(gw, result, {
    headings: ['TIME', 'ACTION', 'WHO', 'BY', 'WHAT', 'FROM → TO'],
    ...{ rows, none, filters: ['action', 'actor', 'app', 'from', 'to', 'beforeId'], note },
  });
};

/** The name of the changed object, if the trail has it; an id alone says little. */
function nameIn(details: AuditEvent['details']): string | undefined {
  const name = details?.slug ?? details?.name;
  return typeof name === 'string' ? name : undefined;
}

function changeText({ path, from, to, redacted }: AuditEvent['changes'][number]): string {
  return redacted ? `${path} (not recorded)` : `${path}: ${valueText(from)} → ${valueText(to)}`;
}

const valueText = (value: unknown) =>
  value === null ? 'none' : typeof value === 'string' ? value : JSON.stringify(value);

/** The trail outlives its application, of which then only the id is known. */
async function auditedAppId(api: Api, named: string): Promise<string> {
  try {
    return await appIdOf(api, named);
  } catch (error) {
    if (error instanceof Failure && error.code === 'app_not_found') return named;
    throw error;
  }
}
