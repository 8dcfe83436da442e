import { type Command, members } from '../program/command.js';

const DIRECTORY = [['[directory]', 'the current one by default']] as const;
const TEXT = { type: 'string' };
const TEXT_OR_NULL = { type: ['string', 'null'] };
const TEXTS = { type: 'array', items: TEXT };
const CHANGE = members({
  ...{ kind: { enum: ['provider', 'app'] }, action: { enum: ['create', 'update', 'rename', 'adopt', 'remove'] } },
  ...{ name: TEXT, id: { type: ['string', 'null'] }, meaning: TEXTS },
  fields: {
    type: 'array',
    items: {
      type: 'object',
      ...{ properties: { path: TEXT, before: {}, after: {} }, required: ['path'], additionalProperties: false },
    },
  },
});
const ENV = ['--env <name>', 'the environment: environments/<name>.yaml'] as const;
const PRUNE = ['--prune', 'also remove what is not in the directory'] as const;

/** Commands for configuration in files. */
export const configurationCommands: readonly Command[] = [
  {
    name: 'export',
    summary: 'Write applications and providers to files, without their keys',
    details:
      'Writes apps/<handle>.yaml and providers.yaml, and the schemas for editors. Refuses a directory with ' +
      'environments. The file of an application without a handle is named after its id. Other files in the ' +
      'directory are not changed.',
    arguments: DIRECTORY,
    examples: ['gw export gateway', 'gw export gateway --json'],
    result: members({ directory: TEXT, files: TEXTS, leftAlone: TEXTS }),
    load: async () => (await import('./export.js')).exportTo,
  },
  {
    name: 'validate',
    summary: 'Check the files offline, in every environment',
    details:
      'Needs no gateway and no key, so it can check pull requests from outside contributors. Reports all problems ' +
      'with file and line, and exits with 2. "gw plan" shows whether the gateway accepts the files and what they ' +
      'change.',
    arguments: DIRECTORY,
    options: [['--env <name>', 'only this environment']],
    examples: ['gw validate infra', 'gw validate infra --env production --json'],
    result: members({ environments: TEXTS, apps: { type: 'integer' }, providers: { type: 'integer' } }),
    load: async () => (await import('./validate.js')).validate,
  },
  {
    name: 'plan',
    summary: 'Show the changes that make the account match the files, and their effect',
    details:
      'Changes nothing. The gateway validates every file first; errors are reported with file and line, and exit ' +
      'code 2. With --check the exit code is 1 on any difference. A saved plan contains no provider keys; "gw ' +
      'apply" refuses it if the account has changed.',
    arguments: DIRECTORY,
    options: [
      ENV,
      ['--check', 'exit 1 on any difference'],
      PRUNE,
      ['--out <file>', 'save the plan for "gw apply <file>"'],
      ['--format <format>', 'output for a terminal, or for a comment on GitHub', ['text', 'markdown']],
    ],
    examples: [
      'gw plan gateway',
      'gw plan gateway --check --json',
      'gw plan infra --env production --format markdown',
      'gw plan infra --env production --out plan.json',
    ],
    result: members({
      ...{ environment: TEXT_OR_NULL, savedPlan: TEXT_OR_NULL },
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
      'All files are validated first. Shows the changes, and on a terminal asks before it makes them. Missing ' +
      'providers are created with the key in GW_PROVIDER_SECRET_<SLUG>. First keys of new server applications go to ' +
      '--key-output. Without --prune, only providers that another replaces by `moved` are removed. After a failure, ' +
      'or Ctrl-C, run it again to continue. A file of "gw plan --out" is applied without a prompt, and only if the ' +
      'account is unchanged.',
    arguments: [['[directory]', 'or a saved plan; the current directory by default']],
    options: [
      ENV,
      ['--key-output <directory>', 'where first keys are written (0600); existing files are never overwritten'],
      PRUNE,
      ['--yes', 'do not ask'],
    ],
    examples: [
      'gw apply gateway',
      'gw apply gateway --key-output keys --json',
      'gw apply gateway --prune --yes',
      'gw apply infra --env production',
      'gw apply plan.json',
    ],
    result: members({ applied: { type: 'array', items: CHANGE }, keyFiles: TEXTS, environment: TEXT_OR_NULL }),
    load: async () => (await import('./apply.js')).apply,
  },
];
