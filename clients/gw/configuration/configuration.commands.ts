import { type Command, members } from '../program/command.js';

const DIRECTORY = [['[directory]', 'the current one when absent']] as const;
const TEXT = { type: 'string' };
const TEXTS = { type: 'array', items: TEXT };
const CHANGE = members({
  ...{ kind: { enum: ['provider', 'app'] }, action: { enum: ['create', 'update', 'remove'] } },
  ...{ name: TEXT, id: { type: ['string', 'null'] }, meaning: TEXTS },
  fields: {
    type: 'array',
    items: {
      type: 'object',
      ...{ properties: { path: TEXT, before: {}, after: {} }, required: ['path'], additionalProperties: false },
    },
  },
});
const PRUNE = ['--prune', 'also remove what is not in the directory'] as const;

/** Commands for configuration in files. */
export const configurationCommands: readonly Command[] = [
  {
    name: 'export',
    summary: 'Write applications and providers to files, without their keys',
    details:
      'Writes apps/<handle>.yaml and providers.yaml, and the schemas for editors. An application without a handle is written under its id. Other files in the directory are not changed.',
    arguments: DIRECTORY,
    examples: ['gw export gateway', 'gw export gateway --json'],
    result: members({ directory: TEXT, files: TEXTS, leftAlone: TEXTS }),
    load: async () => (await import('./export.js')).exportTo,
  },
  {
    name: 'plan',
    summary: 'Show the changes that make the account match the files, and their effect',
    details:
      'Changes nothing. The gateway validates every file first; errors are reported with file and line, and exit 2. With --check the exit code is 1 on any difference.',
    arguments: DIRECTORY,
    options: [['--check', 'exit 1 on any difference'], PRUNE],
    examples: ['gw plan gateway', 'gw plan gateway --check --json'],
    result: members({
      ...{ changes: { type: 'array', items: CHANGE }, newKeys: TEXTS },
      missing: { type: 'array', items: members({ name: TEXT, problem: TEXT, nextAction: TEXT }) },
      unowned: members({ apps: TEXTS, providers: TEXTS }),
    }),
    load: async () => (await import('./plan.js')).plan,
  },
  {
    name: 'apply',
    summary: 'Make the account match the files',
    details:
      'All files are validated first. Shows the changes, and on a terminal asks before it makes them. A provider that is missing is created with the key in GW_PROVIDER_SECRET_<SLUG>. First keys of new server applications go to --key-output. Nothing is removed without --prune. After a failure, or Ctrl-C, run it again: it goes on.',
    arguments: DIRECTORY,
    options: [
      ['--key-output <directory>', 'where first keys go (0600); never over an existing file'],
      PRUNE,
      ['--yes', 'do not ask'],
    ],
    examples: ['gw apply gateway', 'gw apply gateway --key-output keys --json', 'gw apply gateway --prune --yes'],
    result: members({ applied: { type: 'array', items: CHANGE }, keyFiles: TEXTS }),
    load: async () => (await import('./apply.js')).apply,
  },
];
