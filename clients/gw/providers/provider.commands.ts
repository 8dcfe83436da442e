import { answerOf, type Command, component, members, STEP } from '../program/command.js';

const PROVIDER = [['<provider>', 'id or slug of the provider']] as const;
const KEY_STDIN = ['--key-stdin', 'read the key from standard input'] as const;
const BROWSER = ['--browser', 'let a person enter it in a browser'] as const;
const NO_OPEN = ['--no-open', 'only print the link of that page'] as const;
const SETTINGS = [
  ['--base-url <url>', 'custom address, instead of that of the type'],
  ['--pricing <json>', 'prices of models, in USD per million tokens: JSON, or @file'],
  ['--route <json>', 'options of the route through a provider gateway: JSON, or @file'],
] as const;

/** Commands for providers. */
export const providerCommands: readonly Command[] = [
  {
    name: 'provider types',
    summary: 'List the types of providers that the gateway offers',
    examples: ['gw provider types'],
    result: members({ providers: { type: 'array', items: component('OfferedProvider') } }),
    load: async () => (await import('./providers.js')).types,
  },
  {
    name: 'provider list',
    summary: 'List the providers',
    examples: ['gw provider list', 'gw provider list --json'],
    result: answerOf('GET /v1/admin/providers'),
    load: async () => (await import('./providers.js')).list,
  },
  {
    name: 'provider show',
    summary: 'Show a provider',
    arguments: PROVIDER,
    examples: ['gw provider show openai'],
    result: answerOf('PUT /v1/admin/providers/{id}'),
    load: async () => (await import('./providers.js')).show,
  },
  {
    name: 'provider add',
    aliases: ['provider create'],
    summary: 'Add a provider with its key',
    details:
      'gw prompts for the key, reads it from standard input, or lets a person enter it in a browser. It is ' +
      'never shown.',
    options: [
      ['--type <type>', 'one of "gw provider types"'],
      ['--name <name>', 'display name; the name of the type by default'],
      ['--slug <slug>', 'for configurations; the type by default'],
      ['--provider-gateway <gateway>', 'id or name of the provider gateway that has the key'],
      ...SETTINGS,
      KEY_STDIN,
      BROWSER,
      NO_OPEN,
    ],
    examples: [
      'printenv OPENAI_API_KEY | gw provider add --type openai --slug openai-eu --key-stdin',
      'gw provider add --type anthropic --browser --no-open --no-input',
    ],
    result: { anyOf: [answerOf('POST /v1/admin/providers'), STEP] },
    load: async () => (await import('./provider-changes.js')).add,
  },
  {
    name: 'provider update',
    summary: 'Change a provider; omitted options stay',
    arguments: PROVIDER,
    options: [
      ['--name <name>', 'for people'],
      ...SETTINGS,
      ['--status <status>', 'whether calls may use it', ['active', 'disabled']],
      ['--clear-base-url', 'use the address of the type'],
      ['--clear-pricing', 'use the price catalog'],
      ['--clear-route', 'remove the options of the route'],
      KEY_STDIN,
      BROWSER,
      NO_OPEN,
    ],
    examples: [
      'gw provider update openai --name "OpenAI, Europe"',
      'gw provider update openai --pricing \'{"my-model": {"input": 1.5, "output": 6}}\'',
      'gw provider update openai --status disabled',
    ],
    result: { anyOf: [answerOf('PUT /v1/admin/providers/{id}'), STEP] },
    load: async () => (await import('./provider-changes.js')).update,
  },
  {
    name: 'provider rotate-key',
    summary: 'Replace the key of a provider',
    arguments: PROVIDER,
    options: [KEY_STDIN, BROWSER, NO_OPEN],
    examples: [
      'printenv OPENAI_API_KEY | gw provider rotate-key openai --key-stdin',
      'gw provider rotate-key openai --browser --no-open --no-input',
    ],
    result: { anyOf: [answerOf('PUT /v1/admin/providers/{id}'), STEP] },
    load: async () => (await import('./provider-changes.js')).rotateKey,
  },
  {
    name: 'provider test',
    summary: 'Test the stored key of a provider with a free call',
    arguments: PROVIDER,
    examples: ['gw provider test openai'],
    result: answerOf('POST /v1/admin/providers/{id}/test'),
    load: async () => (await import('./provider-changes.js')).test,
  },
  {
    name: 'provider remove',
    aliases: ['provider delete'],
    summary: 'Remove a provider and its key',
    details: 'Calls of applications that name it fail. Asks for confirmation, or needs --yes.',
    arguments: PROVIDER,
    options: [['--yes', 'do not ask']],
    examples: ['gw provider remove openai --yes'],
    result: answerOf('DELETE /v1/admin/providers/{id}'),
    load: async () => (await import('./provider-changes.js')).remove,
  },
];

const GATEWAY = [['<gateway>', 'id or name of the provider gateway']] as const;
const ONE_GATEWAY = answerOf('PATCH /v1/admin/provider-gateways/{id}');

/** Commands for provider gateways. */
export const gatewayCommands: readonly Command[] = [
  {
    name: 'provider-gateway types',
    summary: 'List the types of provider gateways that can be added',
    examples: ['gw provider-gateway types'],
    result: members({ providerGateways: { type: 'array', items: component('OfferedGateway') } }),
    load: async () => (await import('./gateways.js')).types,
  },
  {
    name: 'provider-gateway list',
    summary: 'List the provider gateways',
    examples: ['gw provider-gateway list'],
    result: answerOf('GET /v1/admin/provider-gateways'),
    load: async () => (await import('./gateways.js')).list,
  },
  {
    name: 'provider-gateway show',
    summary: 'Show a provider gateway',
    arguments: GATEWAY,
    examples: ['gw provider-gateway show edge'],
    result: ONE_GATEWAY,
    load: async () => (await import('./gateways.js')).show,
  },
  {
    name: 'provider-gateway add',
    aliases: ['provider-gateway create'],
    summary: 'Add a provider gateway with its token',
    options: [
      ['--type <type>', 'Cloudflare AI Gateway, or Vercel AI Gateway', ['cf_aig', 'vercel']],
      ['--name <name>', 'for people'],
      ['--cloudflare-account-id <id>', 'the account at Cloudflare (cf_aig)'],
      ['--gateway-id <id>', 'the gateway in that account (cf_aig)'],
      KEY_STDIN,
      BROWSER,
      NO_OPEN,
    ],
    examples: [
      'printenv CF_TOKEN | gw provider-gateway add --type cf_aig --name cloudflare --cloudflare-account-id 0a1b2c3d4e5f60718293a4b5c6d7e8f9 --gateway-id main --key-stdin',
      'printenv VERCEL_TOKEN | gw provider-gateway add --type vercel --name vercel --key-stdin',
    ],
    result: { anyOf: [answerOf('POST /v1/admin/provider-gateways'), STEP] },
    load: async () => (await import('./gateways.js')).add,
  },
  {
    name: 'provider-gateway update',
    summary: 'Rename a provider gateway',
    arguments: GATEWAY,
    options: [['--name <name>', 'for people']],
    examples: ['gw provider-gateway update edge --name "Edge of Europe"'],
    result: ONE_GATEWAY,
    load: async () => (await import('./gateways.js')).update,
  },
  {
    name: 'provider-gateway rotate-key',
    summary: 'Replace the token of a provider gateway',
    arguments: GATEWAY,
    options: [KEY_STDIN, BROWSER, NO_OPEN],
    examples: ['printenv CF_TOKEN | gw provider-gateway rotate-key edge --key-stdin'],
    result: { anyOf: [answerOf('POST /v1/admin/provider-gateways/{id}/rotate'), STEP] },
    load: async () => (await import('./gateways.js')).rotateKey,
  },
  {
    name: 'provider-gateway remove',
    aliases: ['provider-gateway delete'],
    summary: 'Remove a provider gateway that no provider uses',
    arguments: GATEWAY,
    options: [['--yes', 'do not ask']],
    examples: ['gw provider-gateway remove edge --yes'],
    result: answerOf('DELETE /v1/admin/provider-gateways/{id}'),
    load: async () => (await import('./gateways.js')).remove,
  },
];
