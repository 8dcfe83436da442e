import { answerOf, type Command, component, members } from '../program/command.js';

const TEXT = { type: 'string' };
const CHECK = members({
  ...{ check: TEXT, state: { enum: ['ok', 'warning', 'failed', 'unknown'] } },
  ...{ detail: TEXT, nextAction: { type: ['string', 'null'] } },
});
const SAVED = { state: { const: 'completed' }, profile: TEXT, url: TEXT, accountId: TEXT };
const WAITING = members({ state: { const: 'pending' }, url: TEXT, userCode: TEXT, expiresAt: TEXT });

/** Commands for gateways as a whole, and for the account in them. */
export const deploymentCommands: readonly Command[] = [
  {
    name: 'deployment connect',
    summary: 'Connect a gateway and save its key',
    details: 'The address is asked for where it is missing. Without a key, log in afterwards.',
    options: [
      ['--url <url>', 'address of the gateway (GW_URL)'],
      ['--key-stdin', 'read a management key from standard input'],
    ],
    examples: [
      'gw deployment connect --url "$GW_URL"',
      'printenv GW_MANAGEMENT_KEY | gw deployment connect --url "$GW_URL" --key-stdin --profile staging',
    ],
    result: members({ profile: TEXT, url: TEXT, deploymentId: TEXT, accountId: { type: ['string', 'null'] } }),
    load: async () => (await import('./deployment.js')).connect,
  },
  {
    name: 'deployment status',
    summary: 'See whether the gateway is up, and its version',
    examples: ['gw deployment status', 'gw deployment status --json'],
    result: members({
      ...{ url: TEXT, serverVersion: TEXT, deployment: component('DeploymentResource'), consoleOrigin: TEXT },
      health: component('HealthResponse'),
    }),
    load: async () => (await import('./deployment.js')).status,
  },
  {
    name: 'account login',
    summary: 'Log in through a browser, on this machine or another',
    details:
      'Opens the browser of this machine; without one it shows a link and a code for any other. With --no-input it does not wait: run it again to go on.',
    options: [
      ['--url <url>', 'address of the gateway (GW_URL, else that of the profile)'],
      ['--no-open', 'show the link and do not open a browser'],
      ['--key-stdin', 'save a management key from standard input instead'],
    ],
    examples: [
      'gw account login --no-open --no-input --url "$GW_URL"',
      'printenv GW_MANAGEMENT_KEY | gw account login --key-stdin',
    ],
    result: { anyOf: [members(SAVED), WAITING] },
    load: async () => (await import('./login.js')).login,
  },
  {
    name: 'account status',
    summary: 'See the account that the key belongs to',
    examples: ['gw account status', 'gw account status --json'],
    result: answerOf('GET /v1/cli/account'),
    load: async () => (await import('./account.js')).status,
  },
  {
    name: 'account claim',
    summary: 'Make an account that a terminal or AI client has opened your own',
    details: 'A person signs in or registers in a browser, and owns the account from then on.',
    options: [['--no-open', 'only print the link']],
    examples: ['gw account claim --no-open --no-input'],
    result: members({ operation: component('OperationResponse') }),
    load: async () => (await import('./account.js')).claim,
  },
  {
    name: 'account logout',
    summary: 'Revoke the saved key and forget it',
    examples: ['gw account logout'],
    result: members({ profile: TEXT, revoked: { const: true } }),
    load: async () => (await import('./account.js')).logout,
  },
  {
    name: 'doctor',
    summary: 'Check a deployment from here, and say what to do',
    details:
      'Looks at address, version, clock, dependencies, streams through proxies, providers and applications. Exit code 3 when something has failed. Keys of providers are tested with calls that cost nothing.',
    examples: ['gw doctor', 'gw doctor --json'],
    result: members({ healthy: { const: true }, checks: { type: 'array', items: CHECK } }),
    load: async () => (await import('./doctor.js')).doctor,
  },
];
