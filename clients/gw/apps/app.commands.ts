import { answerOf, type Command, component, members } from '../program/command.js';
import { OFFSET } from '../program/list-options.js';
import { APP_ORDERS, ORDERS, STATUSES } from './app-choices.js';

const APP = [['<app>', 'id or handle of the application']] as const;
const FILE = ['--file <file>', 'JSON or YAML: {name, handle?, status?, config}'] as const;
const DRY_RUN = ['--dry-run', 'only validate'] as const;
const KEY_OUTPUT = [
  '--key-output <path>',
  'new file, or folder, for the key (0600); existing files are never overwritten',
] as const;
const ANYTHING = { type: ['object', 'null'] };
const ONE_APP = answerOf('GET /v1/admin/apps/{app}');
const ISSUED_KEY = members({
  ...{ id: { type: 'string' }, name: { type: 'string' }, key_prefix: { type: 'string' } },
  ...{ created_at: { type: 'string' }, expires_at: { type: ['string', 'null'] }, key_file: { type: 'string' } },
});

/** Commands for applications. */
export const appCommands: readonly Command[] = [
  {
    name: 'app add',
    aliases: ['app create'],
    summary: 'Add an application',
    details:
      'From a file, or from flags: a server application is called with a key, a mobile one by attested devices. The first key of a server application goes to --key-output and is never shown.',
    options: [
      FILE,
      ['--type <type>', 'what calls it, without a file', ['server', 'mobile']],
      ['--name <name>', 'for people'],
      ['--handle <handle>', 'for scripts and files: lower-case letters, digits and dashes'],
      ['--status <status>', 'active by default', ['active', 'disabled']],
      ['--provider <slug...>', 'only these providers; all by default'],
      ['--team-id <id>', 'Apple team (mobile)'],
      ['--bundle-id <id>', 'bundle of the app (mobile)'],
      ['--attest-environments <list>', 'production, development, or both with a comma (mobile)'],
      KEY_OUTPUT,
      DRY_RUN,
    ],
    examples: [
      'gw app add --type server --name Reports --handle reports --key-output reports.key',
      'gw app add --type mobile --name Journal --team-id ABCDE12345 --bundle-id com.example.journal',
      'gw app add --file app.json --dry-run',
    ],
    result: {
      anyOf: [
        members({
          app: component('AppResource'),
          resolved: ANYTHING,
          config_error: { type: ['string', 'null'] },
          api_key: { anyOf: [ISSUED_KEY, { type: 'null' }] },
        }),
        answerOf('POST /v1/admin/apps/validate'),
      ],
    },
    load: async () => (await import('./app-changes.js')).add,
  },
  {
    name: 'app list',
    summary: 'List the applications',
    options: [
      ['--query <text>', 'only those whose name, handle, id or bundle id contains this text'],
      ['--status <status>', 'only those with this status', STATUSES],
      ['--sort <order>', 'id by default; users, requests, errors and cost of the current month', APP_ORDERS],
      ['--order <order>', 'asc by default for ids and names, otherwise desc', ORDERS],
      ['--limit <rows>', 'how many to list; all by default'],
      OFFSET,
    ],
    examples: ['gw app list', 'gw app list --query notes --json', 'gw app list --sort cost --limit 10'],
    result: answerOf('GET /v1/admin/apps'),
    load: async () => (await import('./apps.js')).list,
  },
  {
    name: 'app show',
    summary: 'Show an application and its configuration',
    arguments: APP,
    examples: ['gw app show notes'],
    result: ONE_APP,
    load: async () => (await import('./apps.js')).show,
  },
  {
    name: 'app update',
    summary: 'Change an application; omitted options stay',
    details:
      'If someone else changed it in the meantime, nothing is changed. --set changes members of the configuration: a dotted path, = and JSON or a text; without a value the member is removed.',
    arguments: APP,
    options: [
      FILE,
      ['--set <member=value...>', 'members of the configuration, as limits.per_user.spending.monthly_usd=5'],
      ['--name <name>', 'for people'],
      ['--handle <handle>', 'for scripts and files'],
      ['--clear-handle', 'no handle'],
      ['--status <status>', 'whether it accepts calls', ['active', 'disabled']],
      ['--revision <number>', 'only if this is still the current revision'],
      DRY_RUN,
    ],
    examples: [
      'gw app update notes --status disabled',
      'gw app update notes --set limits.per_app.spending.monthly_usd=50',
      'gw app update notes --file app.json --dry-run',
    ],
    result: { anyOf: [ONE_APP, answerOf('POST /v1/admin/apps/{app}/validate')] },
    load: async () => (await import('./app-changes.js')).update,
  },
  {
    name: 'app edit',
    summary: 'Change an application in your editor, as YAML',
    details:
      'Opens VISUAL or EDITOR. What you save is validated and shown as a diff; on a terminal gw asks before it ' +
      'makes the change, elsewhere it needs --yes. Without edits, nothing changes. Concurrent changes are detected. ' +
      'If the text is refused, its file is kept.',
    arguments: APP,
    options: [['--yes', 'do not ask']],
    examples: ["EDITOR='sed -i s/Notes/Journal/' gw app edit notes --yes"],
    result: ONE_APP,
    load: async () => (await import('./app-edit.js')).edit,
  },
  {
    name: 'app validate',
    summary: 'Validate a file, as a new application or as a change of one',
    arguments: [['[app]', 'id or handle of the application it would replace']],
    options: [FILE],
    examples: ['gw app validate --file app.json', 'gw app validate notes --file app.json'],
    result: { anyOf: [answerOf('POST /v1/admin/apps/validate'), answerOf('POST /v1/admin/apps/{app}/validate')] },
    load: async () => (await import('./app-changes.js')).validate,
  },
  {
    name: 'app enforce',
    summary: 'Enforce every proof of devices, after showing who would be refused',
    details:
      'Judges the admitted attempts of the last days by the stored configuration with every proof enforced, and shows those that would be refused, by day, proof, reason and version of the app. On a terminal gw asks before it makes the change, elsewhere it needs --yes.',
    arguments: APP,
    options: [
      ['--days <number>', '1 to 30; 30 when absent'],
      ['--dry-run', 'only show'],
      ['--yes', 'do not ask'],
    ],
    examples: ['gw app enforce journal --dry-run', 'gw app enforce journal --days 7 --yes'],
    result: { anyOf: [ONE_APP, answerOf('POST /v1/admin/apps/{app}/enforcement-preview')] },
    load: async () => (await import('./app-enforce.js')).enforce,
  },
  {
    name: 'app check',
    summary: 'Check that an application can accept calls',
    arguments: APP,
    examples: ['gw app check notes'],
    result: answerOf('GET /v1/admin/apps/{app}/check'),
    load: async () => (await import('./apps.js')).check,
  },
  {
    name: 'app snippet',
    summary: 'Show an example call of an application in curl, Swift or Kotlin',
    arguments: APP,
    options: [
      ['--language <language>', 'curl by default', ['curl', 'swift', 'kotlin']],
      ['--provider <slug>', 'through this provider'],
      ['--endpoint <slug>', 'of this named endpoint'],
    ],
    examples: ['gw app snippet notes', 'gw app snippet notes --language curl --endpoint summary'],
    result: answerOf('GET /v1/admin/apps/{app}/snippet'),
    load: async () => (await import('./apps.js')).snippet,
  },
  {
    name: 'app call',
    summary: 'Send a real call with the key in GW_APP_KEY, and show what it cost',
    details:
      'Prints the stream as it arrives, then Server-Timing and the recorded cost, which needs a login. Without one, ' +
      'name an endpoint, and the application by its id. This is the only command that runs inference, and the ' +
      'provider charges for it.',
    arguments: [...APP, ['[prompt]', 'the prompt; "Say hello." by default']],
    options: [
      ['--endpoint <slug>', 'call this named endpoint; the first one without --endpoint, --provider and --model'],
      ['--provider <slug>', 'call this provider; with --model alone, the first that the application can reach'],
      ['--model <model>', 'the model; by default the first that the application allows'],
      ['--user <id>', 'the end user, if the application requires one'],
    ],
    examples: ['gw app call notes', 'gw app call notes "What is a gateway?" --endpoint summary'],
    result: members({
      ...{ status: { type: 'integer' }, text: { type: 'string' }, serverTiming: { type: ['string', 'null'] } },
      ...{ requestId: { type: ['string', 'null'] }, firstByteMs: { type: 'integer' }, totalMs: { type: 'integer' } },
      event: { anyOf: [component('UsageEventResponse'), { type: 'null' }] },
    }),
    load: async () => (await import('./call.js')).call,
  },
  {
    name: 'app remove',
    aliases: ['app delete'],
    summary: 'Remove an application with its keys and users',
    details: 'Recorded usage stays. Asks for confirmation, or needs --yes.',
    arguments: APP,
    options: [['--yes', 'do not ask']],
    examples: ['gw app remove notes --yes'],
    result: answerOf('DELETE /v1/admin/apps/{app}'),
    load: async () => (await import('./app-changes.js')).remove,
  },
  {
    name: 'app key list',
    summary: 'List the keys of an application',
    arguments: APP,
    examples: ['gw app key list notes'],
    result: answerOf('GET /v1/admin/apps/{app}/keys'),
    load: async () => (await import('./app-keys.js')).list,
  },
  {
    name: 'app key add',
    aliases: ['app key create'],
    summary: 'Create a key for an application and write it to a file',
    arguments: APP,
    options: [
      ['--name <name>', 'for people'],
      ['--expires-at <time>', 'when the key expires, such as 2027-01-31T12:00:00Z; by default never'],
      KEY_OUTPUT,
    ],
    examples: [
      'gw app key add notes --name "Server in Oslo" --key-output oslo.key',
      'gw app key add notes --name Trial --expires-at 2027-01-31T12:00:00Z --key-output trial.key',
    ],
    result: members({ app_id: { type: 'string' }, api_key: ISSUED_KEY }),
    load: async () => (await import('./app-keys.js')).add,
  },
  {
    name: 'app key revoke',
    summary: 'Revoke a key of an application immediately and permanently',
    arguments: [...APP, ['<key>', 'id or name of the key']],
    options: [['--yes', 'do not ask']],
    examples: ['gw app key revoke notes "Default key" --yes'],
    result: answerOf('POST /v1/admin/apps/{app}/keys/{key}/revoke'),
    load: async () => (await import('./app-keys.js')).revoke,
  },
  {
    name: 'app play-integrity show',
    summary: 'Show what decodes the Play Integrity tokens of an application, without secrets',
    arguments: APP,
    examples: ['gw app play-integrity show notes'],
    result: answerOf('GET /v1/admin/apps/{app}/play-integrity/credentials'),
    load: async () => (await import('./play-integrity.js')).show,
  },
  {
    name: 'app play-integrity set',
    summary: 'Set or rotate what decodes the Play Integrity tokens of an application',
    arguments: APP,
    options: [
      [
        '--file <file>',
        'key file of a service account, or JSON with decryption_key and verification_key of Play Console',
      ],
    ],
    examples: ['gw app play-integrity set notes --file service-account.json'],
    result: answerOf('PUT /v1/admin/apps/{app}/play-integrity/credentials'),
    load: async () => (await import('./play-integrity.js')).set,
  },
  {
    name: 'app play-integrity remove',
    summary: 'Delete what decodes the Play Integrity tokens of an application',
    arguments: APP,
    options: [['--yes', 'do not ask']],
    examples: ['gw app play-integrity remove notes --yes'],
    result: answerOf('DELETE /v1/admin/apps/{app}/play-integrity/credentials'),
    load: async () => (await import('./play-integrity.js')).remove,
  },
];
