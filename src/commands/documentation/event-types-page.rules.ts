import type { EventType } from '../../webhooks/event-types.js';
import { tableRow } from './markdown.rules.js';

/** Renders `docs/event-types.md`, ordered by type. */
export function renderEventTypes(types: Readonly<Record<string, EventType>>): string {
  const rows = Object.entries(types)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([type, { means, data }]) => tableRow([`\`${type}\``, means, `\`${data.name}\``]));
  return `# Event types

What [webhooks](reference/webhooks.md) can be told. The last column names the schema of \`data\` in
[openapi.json](openapi.json), whose \`webhooks\` show a whole event of each type. Those of \`AuditedEventData\` are the
actions of the [audit trail](reference/security.md#roles-and-routes).

Written by \`npm run docs\` from the code; edit the code instead.

${[tableRow(['Type', 'Reports', 'Data']), tableRow(['---', '---', '---']), ...rows].join('\n')}
`;
}
