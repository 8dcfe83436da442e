import { answerOf, type Command, component, members } from '../program/command.js';
import { CALL_STATUSES } from './call-statuses.js';
import { EXPORT_FORMATS } from './export-formats.js';

const BY =
  'model, provider, provider_slug, provider_gateway, credential_source, model_author, user, status, cost_source, route, endpoint, app_version, key, app';
const DAYS = [
  ['--from <day>', 'first day, YYYY-MM-DD in UTC; by default 29 days before the last'],
  ['--to <day>', 'last day; today by default'],
] as const;
const CORRECTION = [
  ['--dry-run', 'only show the result, without writing it'],
  ['--yes', 'do not ask'],
] as const;
const FOLLOWING = [
  ['--app <app>', 'id or handle of an application; all by default'],
  ['--status <status>', 'only calls with this status', CALL_STATUSES],
  ['--model <model>', 'only calls of this model, as named in usage'],
  ['--provider <provider>', 'only calls to this provider, by slug or type'],
  ['--user <id>', 'only those of this user'],
  ['--key <key>', 'only calls with this application key: its id, or with --app its name'],
  ['--lines <number>', 'how many of the latest to print first; 10 by default'],
  ['--once', 'exit after printing them'],
] as const;
const event = (kind: string, schema: string) =>
  members({ kind: { const: kind }, app_id: { type: 'string' }, event: component(schema) });
const CALL = event('usage', 'UsageEventResponse');
const ENDED = members({ ended: { const: true }, events: { type: 'integer' } });

/** Commands for recorded usage. */
export const usageCommands: readonly Command[] = [
  {
    name: 'usage show',
    summary: 'Show the usage of a month, of the account or of an application',
    options: [
      ['--app <app>', 'id or handle of an application, with a chart of its days'],
      ['--month <month>', 'YYYY-MM in UTC; the current one by default'],
    ],
    examples: ['gw usage show', 'gw usage show --app notes --month 2026-01 --json'],
    result: { anyOf: [answerOf('GET /v1/cli/usage'), answerOf('GET /v1/admin/apps/{app}/usage')] },
    load: async () => (await import('./usage.js')).show,
  },
  {
    name: 'usage breakdown',
    summary: 'Show the usage of the account, or of an application, by one dimension',
    details:
      'By model, provider and app, also the time to the first byte and the duration of complete answers: median and ' +
      '95th percentile.',
    options: [
      ['--app <app>', 'id or handle of an application; all by default'],
      ['--by <dimension>', `${BY} or group:<name>; model by default`],
      ...DAYS,
      ['--limit <rows>', 'how many of the largest to show; 50 by default'],
    ],
    examples: [
      'gw usage breakdown --by app',
      'gw usage breakdown --app notes --by user --limit 10',
      'gw usage breakdown --app notes --by group:team',
      'gw usage breakdown --app notes --from 2026-01-01 --to 2026-01-31',
    ],
    result: answerOf('GET /v1/admin/usage/breakdown'),
    load: async () => (await import('./usage.js')).breakdown,
  },
  {
    name: 'usage export',
    summary: 'Export the recorded calls of the account, or of an application',
    details:
      'Newest first. The result is compared with the manifest of the gateway. An interrupted export to a file is ' +
      'resumed by running the same command again; the file appears when it is complete. Calls after the oldest open ' +
      'call, and of the last minute, are not included yet.',
    options: [
      ['--app <app>', 'id or handle of an application; all by default'],
      ['--format <format>', 'csv (the default), ndjson, or focus: CSV with columns of FOCUS', EXPORT_FORMATS],
      ['--since <time>', 'start: a UTC day, or a time with its zone; by default 29 days before the day of the end'],
      ['--until <time>', 'end, exclusive: likewise; now by default'],
      ['--output <file>', 'file to write; standard output by default'],
    ],
    examples: [
      'gw usage export --since 2026-01-01 --until 2026-02-01 --output january.csv',
      'gw usage export --app notes --format ndjson',
    ],
    result: members({
      output: { type: ['string', 'null'] },
      bytes: { type: 'integer' },
      resumed: { type: 'boolean' },
      manifest: component('UsageExportManifestResponse'),
    }),
    load: async () => (await import('./export.js')).exportUsage,
  },
  {
    name: 'usage reprice',
    summary: 'Recompute the costs of a model in a month at the prices known today',
    details:
      'Shows the costs before and after, and on a terminal asks before it writes them; elsewhere it needs --yes. ' +
      'Refuses events without a price.',
    options: [
      ['--app <app>', 'id or handle of the application'],
      ['--provider <type>', 'type of the provider that served the calls'],
      ['--model <model>', 'the model, as named in usage'],
      ['--month <month>', 'YYYY-MM in UTC'],
      ...CORRECTION,
    ],
    examples: ['gw usage reprice --app notes --provider openai --model gpt-4.1-mini --month 2026-11 --dry-run'],
    result: answerOf('POST /v1/admin/apps/{app}/usage/reprice'),
    load: async () => (await import('./corrections.js')).reprice,
  },
  {
    name: 'usage settle',
    summary: 'Replace the estimated costs of calls with unknown usage',
    details:
      'Shows the amounts, and on a terminal asks before it writes them; elsewhere it needs --yes. At most 10 000 ' +
      'events at a time, oldest first.',
    options: [
      ['--app <app>', 'id or handle of the application'],
      ['--month <month>', 'YYYY-MM in UTC'],
      ['--cost <cost>', 'zero, estimate, or US dollars for each event'],
      ['--provider <type>', 'only those of this type of provider'],
      ['--model <model>', 'only those of this model'],
      ['--status <status>', 'only those with this status', CALL_STATUSES],
      ['--event <id...>', 'only these'],
      ...CORRECTION,
    ],
    examples: ['gw usage settle --app notes --month 2026-11 --cost zero --dry-run'],
    result: answerOf('POST /v1/admin/apps/{app}/usage/settle-estimates'),
    load: async () => (await import('./corrections.js')).settle,
  },
  {
    name: 'usage tail',
    summary: 'Follow calls and authentication events, of the account or of an application',
    details:
      'Prints the latest ones, then each as it is recorded, until Ctrl-C. With --json each is one line. A filter ' +
      'that does not apply to authentication events excludes them.',
    options: FOLLOWING,
    examples: ['gw usage tail --app notes --once', 'gw usage tail --lines 50 --once --json'],
    result: { anyOf: [CALL, event('auth', 'AuthEventResponse'), ENDED] },
    load: async () => (await import('./tail.js')).tail,
  },
  {
    name: 'logs',
    summary: 'Follow the calls of the account, or of an application, as they are recorded',
    details: 'Prints the latest ones, then each as it is recorded, until Ctrl-C. With --json each is one line.',
    options: FOLLOWING,
    examples: ['gw logs --once', 'gw logs --app notes --status provider_error --lines 50 --once --json'],
    result: { anyOf: [CALL, ENDED] },
    load: async () => (await import('./tail.js')).logs,
  },
];
