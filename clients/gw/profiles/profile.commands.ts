import { type Command, members } from '../program/command.js';

const PROFILE = [['<profile>', 'name of a saved gateway']] as const;
const TEXT = { type: 'string' };
const TEXT_OR_NULL = { type: ['string', 'null'] };
const SAVED = members({
  ...{ name: TEXT, current: { type: 'boolean' }, url: TEXT_OR_NULL, accountId: TEXT_OR_NULL },
  key: { enum: ['keychain', 'file', null] },
  damaged: { type: 'boolean' },
});

/** Commands for the gateways saved on this machine. None of them calls a gateway. */
export const profileCommands: readonly Command[] = [
  {
    name: 'profile list',
    summary: 'List the saved gateways',
    examples: ['gw profile list', 'gw profile list --json'],
    result: members({ profiles: { type: 'array', items: SAVED } }),
    load: async () => (await import('./profiles.js')).list,
  },
  {
    name: 'profile use',
    summary: 'Use a saved gateway from now on',
    details: 'Commands without --profile or GW_PROFILE use it.',
    arguments: PROFILE,
    examples: ['gw profile use staging'],
    result: members({ profile: TEXT }),
    load: async () => (await import('./profiles.js')).use,
  },
  {
    name: 'profile rename',
    summary: 'Rename a saved gateway; its key is kept',
    arguments: [...PROFILE, ['<name>', 'lower-case letters, digits and dashes']],
    examples: ['gw profile rename staging production'],
    result: members({ profile: TEXT, before: TEXT }),
    load: async () => (await import('./profiles.js')).rename,
  },
  {
    name: 'profile remove',
    summary: 'Forget a saved gateway and its key',
    details:
      'The key stays valid: revoke it first with "gw account logout", or later in the console. Asks for ' +
      'confirmation, or needs --yes.',
    arguments: PROFILE,
    options: [['--yes', 'do not ask']],
    examples: ['gw profile remove staging --yes'],
    result: members({ profile: TEXT, forgotValidKey: { type: 'boolean' } }),
    load: async () => (await import('./profiles.js')).remove,
  },
];
