import type { Command } from '../program/command.js';

/** Every command of `gw`, in the order of its help. */
export const commands: readonly Command[] = [
  {
    name: 'deployment connect',
    summary: 'Connect a gateway and save its key',
    options: [
      ['--url <url>', 'address of the gateway (GW_URL)'],
      ['--key-stdin', 'read a management key from standard input'],
    ],
    examples: [
      'gw deployment connect --url https://gateway.example.com',
      'printenv KEY | gw deployment connect --url https://gateway.example.com --key-stdin',
    ],
    load: async () => (await import('./deployment.js')).connect,
  },
  {
    name: 'deployment status',
    summary: 'See whether the gateway is up, and its version',
    examples: ['gw deployment status', 'gw deployment status --json'],
    load: async () => (await import('./deployment.js')).status,
  },
  {
    name: 'account login',
    summary: 'Log in through a browser, on this machine or another',
    details:
      'Shows a link and a code for any browser and waits for the approval. With --no-input it does not wait: run it again to go on.',
    options: [
      ['--url <url>', 'address of the gateway (GW_URL, else that of the profile)'],
      ['--key-stdin', 'save a management key from standard input instead'],
    ],
    examples: [
      'gw account login --url https://gateway.example.com',
      'gw account login --no-input --json',
      'printenv KEY | gw account login --key-stdin',
    ],
    load: async () => (await import('./login.js')).login,
  },
  {
    name: 'account status',
    summary: 'See the account that the key belongs to',
    examples: ['gw account status', 'gw account status --profile staging'],
    load: async () => (await import('./account.js')).status,
  },
  {
    name: 'account logout',
    summary: 'Revoke the saved key and forget it',
    examples: ['gw account logout'],
    load: async () => (await import('./account.js')).logout,
  },
  {
    name: 'provider types',
    summary: 'List the types of providers that the gateway offers',
    examples: ['gw provider types'],
    load: async () => (await import('./providers.js')).types,
  },
  {
    name: 'provider list',
    summary: 'List the providers',
    examples: ['gw provider list', 'gw provider list --json'],
    load: async () => (await import('./providers.js')).list,
  },
  {
    name: 'provider show',
    summary: 'Show a provider',
    arguments: [['<provider>', 'id or slug of the provider']],
    examples: ['gw provider show openai'],
    load: async () => (await import('./providers.js')).show,
  },
  {
    name: 'app list',
    summary: 'List the applications',
    options: [['--query <text>', 'only those with this text in name, handle, id or bundle id']],
    examples: ['gw app list', 'gw app list --query notes --json'],
    load: async () => (await import('./apps.js')).list,
  },
  {
    name: 'app show',
    summary: 'Show an application and its configuration',
    arguments: [['<app>', 'id or handle of the application']],
    examples: ['gw app show notes'],
    load: async () => (await import('./apps.js')).show,
  },
];
