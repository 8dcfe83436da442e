import { CliAccountController } from '../../cli/account/cli-account.controller.js';
import { ListPricesRequest } from '../../pricing/dto/list-prices.request.js';
import { PricesController } from '../../pricing/prices.controller.js';
import { counted, quoted, type Tool, tool } from './tool.js';

/** Tools of the account as a whole. */
export const ACCOUNT_TOOLS: readonly Tool[] = [
  tool({
    name: 'get_account',
    title: 'Read the account',
    route: [CliAccountController, 'account'],
    run: (cli, { admin }) => cli.account(admin),
    summary: ({ account }) => `You act in ${quoted(account.name)}.`,
  }),
  tool({
    name: 'get_capabilities',
    title: 'Read what the gateway can do',
    description: 'Provider types with their API styles, types of provider gateways, and where the console is.',
    route: [CliAccountController, 'capabilities'],
    run: (cli) => cli.capabilities(),
    summary: ({ providers }) => `${counted(providers.length, 'provider type')}.`,
  }),
  tool({
    name: 'list_models',
    title: 'List models and prices',
    route: [PricesController, 'list'],
    input: ListPricesRequest,
    run: (prices, { input }) => prices.list(input),
    summary: ({ prices }) => {
      const models = Object.values(prices).reduce((sum, ofType) => sum + Object.keys(ofType).length, 0);
      return `Prices of ${counted(models, 'model')}, by provider type.`;
    },
  }),
];
