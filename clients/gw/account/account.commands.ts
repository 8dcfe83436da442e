import { answerOf, type Command, members } from '../program/command.js';
import { BY_ID } from '../program/list-options.js';
import { APP_TABS, PAGES } from './console-pages.js';

const ROLES = ['owner', 'admin', 'member'] as const;
const MEMBER = [['<member>', 'id or e-mail address']] as const;
const IN_CONSOLE =
  'Members are managed by people, not by management keys: the command exits with 4 and names the page of the console.';
/** Of commands that never succeed. */
const NOTHING = { not: {} };
const load = async () => (await import('./members.js')).inConsole;

/** Commands for what an account records, and for its pages. */
export const accountCommands: readonly Command[] = [
  {
    name: 'audit list',
    summary: 'List the audit trail: who changed what, newest first',
    details: 'Covers the last 90 days. Both dates are inclusive and in UTC.',
    options: [
      ['--action <action>', 'only this action, such as app.created'],
      ['--actor <id>', 'only the actions of this person or service'],
      ['--app <app>', 'only this application, by id or handle; a removed one by id'],
      ['--from <day>', 'first day, YYYY-MM-DD'],
      ['--to <day>', 'last day'],
      ...BY_ID,
    ],
    examples: ['gw audit list', 'gw audit list --action app.created --from 2026-01-01 --to 2026-01-31 --json'],
    result: answerOf('GET /v1/admin/audit-events'),
    load: async () => (await import('./audit.js')).list,
  },
  {
    name: 'member list',
    summary: 'List the members, in the console',
    ...{ details: IN_CONSOLE, examples: ['gw member list'], result: NOTHING, load },
  },
  {
    name: 'member invite',
    summary: 'Invite a person, in the console',
    options: [
      ['--role <role>', 'the role of the person', ROLES],
      ['--email <address>', 'the only address that may accept'],
    ],
    ...{
      details: IN_CONSOLE,
      examples: ['gw member invite --role member --email ada@example.com'],
      result: NOTHING,
      load,
    },
  },
  {
    name: 'member role',
    summary: 'Change the role of a member, in the console',
    arguments: [...MEMBER, ['<role>', 'the new role', ROLES]],
    ...{ details: IN_CONSOLE, examples: ['gw member role ada@example.com admin'], result: NOTHING, load },
  },
  {
    name: 'member remove',
    summary: 'Remove a member, in the console',
    arguments: MEMBER,
    ...{ details: IN_CONSOLE, examples: ['gw member remove ada@example.com'], result: NOTHING, load },
  },
  {
    name: 'open',
    summary: 'Open the console, one of its pages, or an application in it',
    details:
      'Prints the address with --no-open, with --no-input, or without a browser. The console shows the account that ' +
      'is selected there.',
    arguments: [
      [
        '[page]',
        'a page of the console; with --app one of the application',
        [...new Set([...PAGES.map(([name]) => name), ...APP_TABS])],
      ],
    ],
    options: [
      ['--app <app>', 'id or handle of an application'],
      ['--no-open', 'only print the address'],
    ],
    examples: ['gw open --no-open', 'gw open members --no-open', 'gw open usage --app notes --no-open'],
    result: members({ url: { type: 'string' }, opened: { type: 'boolean' } }),
    load: async () => (await import('./open.js')).open,
  },
];
