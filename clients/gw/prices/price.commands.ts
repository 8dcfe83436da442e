import { answerOf, type Command, component, members } from '../program/command.js';

const TEXT = { type: 'string' };
const PRICE = component('ModelPriceResponse');

/** Commands for prices and models. */
export const priceCommands: readonly Command[] = [
  {
    name: 'price list',
    summary: 'List today’s price catalog, in US dollars per million tokens',
    details: 'Custom prices of the providers of the account are not included; "gw model list" shows both.',
    options: [
      ['--provider <type>', 'only those of this type of provider'],
      ['--query <text>', 'only models whose name contains this text'],
    ],
    examples: ['gw price list --provider openai', 'gw price list --query haiku --json'],
    result: answerOf('GET /v1/admin/prices'),
    load: async () => (await import('./prices.js')).list,
  },
  {
    name: 'price show',
    summary: 'Show every rate of a model in the price catalog',
    arguments: [
      ['<type>', 'type of the provider'],
      ['<model>', 'name of the model'],
    ],
    examples: ['gw price show openai gpt-4.1-mini'],
    result: members({ provider: TEXT, model: TEXT, price: PRICE }),
    load: async () => (await import('./prices.js')).show,
  },
  {
    name: 'model list',
    summary: 'List the priced models of the active providers of the account',
    details: 'A custom price of the provider takes precedence over the catalog. Calls need a model with a price.',
    options: [
      ['--provider <provider>', 'only those of this provider, by id or slug'],
      ['--query <text>', 'only models whose name contains this text'],
    ],
    examples: ['gw model list', 'gw model list --provider openai --query mini --json'],
    result: members({
      models: {
        type: 'array',
        items: members({
          ...{ model: TEXT, provider: TEXT, type: TEXT, source: { enum: ['catalog', 'provider'] } },
          price: { type: 'object' },
        }),
      },
    }),
    load: async () => (await import('./prices.js')).models,
  },
];
