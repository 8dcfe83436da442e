import { answerOf, type Command, members } from '../program/command.js';
import { BY_ID, BY_OFFSET } from '../program/list-options.js';
import { AUTH_EVENTS, USER_ORDERS, USER_STATUSES } from './app-choices.js';

const APP = ['<app>', 'id or handle of the application'] as const;
const USER = [APP, ['<user>', 'id of the user']] as const;
const MONTH = ['--month <month>', 'month of the usage, YYYY-MM in UTC; the current one by default'] as const;

/** Commands for the users of applications and their sign-ins. */
export const userCommands: readonly Command[] = [
  {
    name: 'app user list',
    summary: 'List the users of an application',
    arguments: [APP],
    options: [
      ['--query <text>', 'only those whose id contains this text'],
      ['--status <status>', 'only those with this status', USER_STATUSES],
      ['--at-limit', 'only those who have spent a budget'],
      ['--min-budget <percent>', 'only those who have spent at least this percentage of a budget, such as 80'],
      [
        '--sort <order>',
        'recent (last seen first, the default), cost, or budget (largest share spent first)',
        USER_ORDERS,
      ],
      MONTH,
      ...BY_OFFSET,
    ],
    examples: [
      'gw app user list notes',
      'gw app user list notes --sort cost --at-limit',
      'gw app user list notes --status blocked --limit 200 --json',
    ],
    result: answerOf('GET /v1/admin/apps/{app}/users'),
    load: async () => (await import('./app-users.js')).list,
  },
  {
    name: 'app user show',
    summary: 'Show a user of an application, and the usage of a month',
    arguments: USER,
    options: [MONTH],
    examples: ['gw app user show notes ada', 'gw app user show notes ada --month 2026-01 --json'],
    result: answerOf('GET /v1/admin/apps/{app}/user'),
    load: async () => (await import('./app-users.js')).show,
  },
  {
    name: 'app user export',
    summary: 'Export every database row about a user of an application',
    details: 'One JSON object per line, {"table", "row"}. It contains personal data.',
    arguments: USER,
    options: [['--output <file>', 'file to write; standard output by default']],
    examples: ['gw app user export notes ada --output ada.ndjson'],
    result: members({ output: { type: ['string', 'null'] }, rows: { type: 'integer' } }),
    load: async () => (await import('./user-export.js')).exportUser,
  },
  {
    name: 'app user block',
    summary: 'Block a user of an application, even before its first call',
    details: 'Calls and sign-ins of the user are refused until "gw app user unblock".',
    arguments: USER,
    examples: ['gw app user block notes ada'],
    result: answerOf('POST /v1/admin/apps/{app}/user/block'),
    load: async () => (await import('./app-users.js')).block,
  },
  {
    name: 'app user unblock',
    summary: 'Unblock a user of an application',
    arguments: USER,
    examples: ['gw app user unblock notes ada'],
    result: answerOf('POST /v1/admin/apps/{app}/user/unblock'),
    load: async () => (await import('./app-users.js')).unblock,
  },
  {
    name: 'app sign-in list',
    summary: 'List the sign-ins (authentication events) of an application, newest first',
    details: 'Every device registration and token exchange of the last 90 days, including refused ones.',
    arguments: [APP],
    options: [
      ['--outcome <code>', 'only this outcome: ok, or the error code that the client received'],
      ['--event <event>', 'only these', AUTH_EVENTS],
      ['--user <id>', 'only those of this user'],
      ...BY_ID,
    ],
    examples: ['gw app sign-in list notes', 'gw app sign-in list notes --outcome attest_failed --json'],
    result: answerOf('GET /v1/admin/apps/{app}/auth-events'),
    load: async () => (await import('./app-sign-ins.js')).list,
  },
];
