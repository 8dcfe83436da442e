import { answerOf, type Command, component, members } from '../program/command.js';

const BY = ['model', 'provider', 'provider_slug', 'provider_gateway', 'credential_source', 'model_author', 'user'];
const ALSO_BY = ['status', 'cost_source', 'route', 'endpoint', 'app_version'];
const DAYS = [
  ['--from <day>', 'first day, YYYY-MM-DD in UTC; 29 days before the last when absent'],
  ['--to <day>', 'last day; today when absent'],
] as const;

/** Commands for recorded usage. */
export const usageCommands: readonly Command[] = [
  {
    name: 'usage show',
    summary: 'Show the usage of a month, of the account or of an application',
    options: [
      ['--app <app>', 'id or handle of an application, with a chart of its days'],
      ['--month <month>', 'YYYY-MM in UTC; the current one when absent'],
    ],
    examples: ['gw usage show', 'gw usage show --app notes --month 2026-01 --json'],
    result: { anyOf: [answerOf('GET /v1/cli/usage'), answerOf('GET /v1/admin/apps/{app}/usage')] },
    load: async () => (await import('./usage.js')).show,
  },
  {
    name: 'usage breakdown',
    summary: 'Show the usage of an application by one dimension',
    options: [
      ['--app <app>', 'id or handle of the application'],
      ['--by <dimension>', 'model when absent', [...BY, ...ALSO_BY]],
      ...DAYS,
      ['--limit <rows>', 'the largest; 50 when absent'],
    ],
    examples: [
      'gw usage breakdown --app notes --by user --limit 10',
      'gw usage breakdown --app notes --from 2026-01-01 --to 2026-01-31',
    ],
    result: answerOf('GET /v1/admin/apps/{app}/usage/breakdown'),
    load: async () => (await import('./usage.js')).breakdown,
  },
  {
    name: 'usage tail',
    summary: 'Follow the calls and authentication events of an application',
    details: 'Prints the latest ones, then each as it is recorded, until Ctrl-C. With --json each is one line.',
    options: [
      ['--app <app>', 'id or handle of the application'],
      ['--lines <number>', 'how many of the latest; 10 when absent'],
      ['--once', 'exit after them'],
    ],
    examples: ['gw usage tail --app notes --once', 'gw usage tail --app notes --lines 50 --once --json'],
    result: {
      anyOf: [
        members({ kind: { const: 'usage' }, event: component('UsageEventResponse') }),
        members({ kind: { const: 'auth' }, event: component('AuthEventResponse') }),
        members({ ended: { const: true }, events: { type: 'integer' } }),
      ],
    },
    load: async () => (await import('./tail.js')).tail,
  },
];
