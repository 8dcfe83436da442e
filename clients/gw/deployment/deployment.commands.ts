import { answerOf, type Command, component, members } from '../program/command.js';

const TEXT = { type: 'string' };
const CHECK = members({
  ...{ check: TEXT, state: { enum: ['ok', 'warning', 'failed', 'unknown'] } },
  ...{ detail: TEXT, nextAction: { type: ['string', 'null'] } },
});
const FORGOT = { forgotValidKey: { type: 'boolean' } };
const SAVED = { state: { const: 'completed' }, profile: TEXT, url: TEXT, accountId: TEXT, ...FORGOT };
const WAITING = members({ state: { const: 'pending' }, url: TEXT, userCode: TEXT, expiresAt: TEXT });

/** Commands for gateways as a whole, and for the account in them. */
export const deploymentCommands: readonly Command[] = [
  {
    name: 'deployment connect',
    summary: 'Connect a gateway and save its key',
    details:
      'Prompts for a missing address. The gateway becomes the current profile. Without a key, it keeps a saved ' +
      'one; with no saved key, log in afterwards.',
    options: [
      ['--url <url>', 'address of the gateway (GW_URL)'],
      ['--key-stdin', 'read a management key from standard input'],
    ],
    examples: [
      'gw deployment connect --url "$GW_URL"',
      'printenv GW_MANAGEMENT_KEY | gw deployment connect --url "$GW_URL" --key-stdin --profile staging',
    ],
    result: members({
      profile: TEXT,
      url: TEXT,
      deploymentId: TEXT,
      accountId: { type: ['string', 'null'] },
      ...FORGOT,
    }),
    load: async () => (await import('./deployment.js')).connect,
  },
  {
    name: 'deployment status',
    summary: 'Show whether the gateway is up, and its version',
    examples: ['gw deployment status', 'gw deployment status --json'],
    result: members({
      ...{ url: TEXT, serverVersion: TEXT, deployment: component('DeploymentResource'), consoleOrigin: TEXT },
      ...{ health: component('HealthResponse'), ready: { type: 'boolean' } },
    }),
    load: async () => (await import('./deployment.js')).status,
  },
  {
    name: 'account login',
    aliases: ['login'],
    summary: 'Log in through a browser, on this machine or another',
    details:
      'Opens the browser of this machine; without one it shows a link and a code for another browser. With --no-input it does not wait: run it again to continue.',
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
    summary: 'Show the account of the key',
    examples: ['gw account status', 'gw account status --json'],
    result: answerOf('GET /v1/cli/account'),
    load: async () => (await import('./account.js')).status,
  },
  {
    name: 'account claim',
    summary: 'Claim an account that a terminal or AI client opened',
    details: 'A person signs in or registers in a browser, and then owns the account.',
    options: [['--no-open', 'only print the link']],
    examples: ['gw account claim --no-open --no-input'],
    result: members({ operation: component('OperationResponse') }),
    load: async () => (await import('./account.js')).claim,
  },
  {
    name: 'account logout',
    aliases: ['logout'],
    summary: 'Revoke and delete the saved key',
    examples: ['gw account logout'],
    result: members({ profile: TEXT, revoked: { const: true } }),
    load: async () => (await import('./account.js')).logout,
  },
  {
    name: 'doctor',
    summary: 'Check a deployment from this machine and suggest next steps',
    details:
      'Checks address, version, clock, dependencies, streams through proxies, providers and applications. Exits ' +
      'with 3 if a check fails. Provider keys are tested with free calls.',
    examples: ['gw doctor', 'gw doctor --json'],
    result: members({ healthy: { const: true }, checks: { type: 'array', items: CHECK } }),
    load: async () => (await import('./doctor.js')).doctor,
  },
];
