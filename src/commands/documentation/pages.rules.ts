import {
  ENTITLEMENT_PRESETS,
  IDENTITY_PRESETS,
  issuerOfPreset,
} from '../../app-directory/config/identity-presets.rules.js';
import { LOG_LEVELS, type LogLevel } from '../../common/log/log-events.js';
import type { MetricAbout } from '../../platform/metrics/instruments.js';
import type { EventType } from '../../webhooks/event-types.js';
import { tableRow } from './markdown.rules.js';

type Catalogue = Readonly<Record<string, { readonly status: number; readonly message: string }>>;
type Reasons = Readonly<Record<string, { readonly means: string; readonly advice: string }>>;
type Lines = Readonly<Record<string, { readonly means: string; readonly advice?: string }>>;

/** The status of the refusal sets the level of this line. */
const BY_STATUS = { name: 'gateway_error', levels: 'warn, error' };
const ACROSS = { sum: 'sum', most: 'highest', least: 'lowest' };

/** Renders `docs/errors.md`, ordered by status and code. */
export function renderErrors(catalogue: Catalogue): string {
  const rows = Object.entries(catalogue)
    .sort(([codeA, a], [codeB, b]) => a.status - b.status || codeA.localeCompare(codeB))
    .map(([code, { status, message }]) => [`${status}`, `\`${code}\``, message]);
  const intro = `Every refusal has the body \`{"error": {"code", "message", "data"?}}\`. Codes are a closed list and stable: decide on the
code, never on the message. \`data\` holds only text, numbers and booleans. A few codes answer another status on some
routes; \`docs/openapi.json\` says which. Answers with 429 and 503 carry \`Retry-After\` in seconds, but for
\`issuer_verification_unavailable\`.`;
  return tablePage('Errors', intro, ['Status', 'Code', 'Usual message'], rows);
}

/** Renders `docs/event-types.md`, ordered by type. */
export function renderEventTypes(types: Readonly<Record<string, EventType>>): string {
  const rows = Object.entries(types)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([type, { means, data }]) => [`\`${type}\``, means, `\`${data.name}\``]);
  const intro = `What [webhooks](reference/webhooks.md) can be told. The last column names the schema of \`data\` in
[openapi.json](openapi.json), whose \`webhooks\` show a whole event of each type. Those of \`AuditedEventData\` are the
actions of the [audit trail](reference/security.md#roles-and-routes).`;
  return tablePage('Event types', intro, ['Type', 'Reports', 'Data'], rows);
}

/** Renders `docs/reasons.md`, ordered by reason. */
export function renderReasons(reasons: Reasons): string {
  const rows = Object.entries(reasons)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([reason, { means, advice }]) => [`\`${reason}\``, means, advice]);
  const intro = `\`reason\` of the log line \`gateway_error\` and of authentication events says why a request was refused. Clients do not get
it. Beside these there are \`provider_\` with the lower-case error code of the system, such as \`provider_econnrefused\` (look
at the provider, its address and the network), and the reasons of extensions.`;
  return tablePage('Reasons', intro, ['Reason', 'Means', 'What to do'], rows);
}

/** Renders `docs/log-events.md`, in the order of the declaration. */
export function renderLogEvents(lines: Lines): string {
  const levels = new Map<string, LogLevel>(Object.entries(LOG_LEVELS));
  const levelOf = (name: string) => (name === BY_STATUS.name ? BY_STATUS.levels : (levels.get(name) ?? 'info'));
  const rows = Object.entries(lines).map(([name, { means, advice = '' }]) => [
    `\`${name}\``,
    levelOf(name),
    means,
    advice,
  ]);
  const intro =
    'Every line the service can write; [Log](monitoring.md#log) describes the format. An empty cell: nothing to do.';
  return tablePage('Log lines', intro, ['Line', 'Level', 'Means', 'What to do'], rows);
}

/** Renders `docs/metrics.md`, in the order of a scrape. */
export function renderMetrics(metrics: readonly MetricAbout[]): string {
  const rows = metrics.map(({ name, type, labels, help, across = 'sum' }) => [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(', '),
    ACROSS[across],
    help,
  ]);
  const intro = `Every metric of \`GET /metrics\`; [Metrics](monitoring.md#metrics) says who may scrape and what to alert on. Workers: how a
scrape combines the values of the processes that share a port.`;
  return tablePage('Metrics', intro, ['Metric', 'Type', 'Labels', 'Workers', 'Counts'], rows);
}

/** Renders `docs/identity-providers.md` from the presets of the console and the OpenAPI document. */
export function renderIdentityProviders(): string {
  return [
    '# Identity providers',
    '',
    'Settings for `authentication.end_user.issuer` of an application, by identity provider. Written by `npm run docs`; the',
    'same data is `x-identity-presets` of the schema `AppIssuer` in the API’s description.',
    '',
    ...IDENTITY_PRESETS.flatMap((preset) => [
      `## ${preset.label}`,
      '',
      ...preset.fields.map(({ label, example }) => `- ${label}, such as \`${example}\``),
      '',
      '```json',
      JSON.stringify(issuerOfPreset(preset), null, 2),
      '```',
      '',
      ...preset.notes.flatMap((note) => [note, '']),
    ]),
    '## Subscriptions',
    '',
    'A required claim lets in only users whose token proves a subscription. It is checked when a device registers and when',
    'a token is exchanged, so a lapsed subscription works until the gateway token ends, an hour at most.',
    '',
    ...ENTITLEMENT_PRESETS.filter(({ path }) => path !== '').flatMap(({ id, label, path, notes }) => [
      `**${label}**`,
      '',
      '```json',
      JSON.stringify({ entitlement: id, required_claims: [{ path, contains: ['pro'] }] }, null, 2),
      '```',
      '',
      ...notes.flatMap((note) => [note, '']),
    ]),
    '`contains` takes one text or several, of which one must be in the claim: an element of a list, a word of a text, or the',
    'whole text. `equals` takes a text, a number or a boolean. `path` walks into objects: `plan.name`. Where names hold dots,',
    'as those that are URLs do, it is a list of names: `["https://example.com/claims", "plan"]`. So is `user_id_claim`.',
    '',
  ].join('\n');
}

function tablePage(
  title: string,
  intro: string,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const table = [columns, columns.map(() => '---'), ...rows].map(tableRow);
  return `# ${title}\n\n${intro}\n\nWritten by \`npm run docs\` from the code; edit the code instead.\n\n${table.join('\n')}\n`;
}
