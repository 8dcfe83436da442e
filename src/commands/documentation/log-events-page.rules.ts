import { LOG_LEVELS, type LogLevel } from '../../common/log/log-events.js';
import { tableRow } from './markdown.rules.js';

type Lines = Readonly<Record<string, { readonly means: string; readonly advice?: string }>>;

/** The status of the refusal sets the level of this line. */
const BY_STATUS = { name: 'gateway_error', levels: 'warn, error' };

/** Renders `docs/log-events.md`, in the order of the declaration. */
export function renderLogEvents(lines: Lines): string {
  const levels = new Map<string, LogLevel>(Object.entries(LOG_LEVELS));
  const levelOf = (name: string) => (name === BY_STATUS.name ? BY_STATUS.levels : (levels.get(name) ?? 'info'));
  const rows = Object.entries(lines).map(([name, { means, advice = '' }]) =>
    tableRow([`\`${name}\``, levelOf(name), means, advice]),
  );
  return `# Log lines

Every line the service can write; [Log](monitoring.md#log) describes the format. An empty cell: nothing to do.

Written by \`npm run docs\` from the code; edit the code instead.

${[tableRow(['Line', 'Level', 'Means', 'What to do']), tableRow(['---', '---', '---', '---']), ...rows].join('\n')}
`;
}
