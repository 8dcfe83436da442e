import { api, read, type Schemas } from '../api/client';
import { download } from '../usage/download';
import { csvOf } from '../usage/periods.rules';
import type { AuditFilters } from './audit-filters.rules';
import { detailsText, valueText } from './audit-values.rules';

type AuditEvent = Schemas['AuditEventResponse'];

const PAGE = 200;
/** Maximum number of entries in one file. */
const MOST_EXPORTED = 10_000;

const HEADER = [
  ...['id', 'created_at', 'actor_id', 'actor_name', 'source', 'credential_type', 'credential_id'],
  ...['action', 'target_type', 'target_id', 'app_id', 'path', 'old_value', 'new_value', 'details'],
];

/** Downloads the entries that match, the newest first: a line for each changed member, or one for the entry. */
export async function exportTrail(filters: AuditFilters): Promise<void> {
  const events: AuditEvent[] = [];
  let before: number | null = null;
  do {
    const query: AuditFilters & { limit: number; before_id?: number } = {
      ...{ ...filters, limit: PAGE },
      ...(before === null ? {} : { before_id: before }),
    };
    const page: Schemas['AuditEventsResponse'] = await read(api.GET('/v1/admin/audit-events', { params: { query } }));
    events.push(...page.events);
    before = page.next_before_id;
  } while (before !== null && events.length < MOST_EXPORTED);
  download('audit-trail.csv', csvOf(HEADER, events.slice(0, MOST_EXPORTED).flatMap(linesOf)));
}

function linesOf(event: AuditEvent): (string | number | null)[][] {
  const { id, created_at, actor, credential_type, action, target, app_id, changes, details } = event;
  const entry = [
    ...[id, created_at, actor.id, actor.name, actor.action_source, credential_type, actor.credential_id],
    ...[action, target.type, target.id, app_id],
  ];
  if (changes.length === 0) return [[...entry, null, null, null, detailsText(details)]];
  return changes.map((change) => [
    ...[...entry, change.path, valueText(change, 'from'), valueText(change, 'to'), detailsText(details)],
  ]);
}
