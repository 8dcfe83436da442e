import { accountCommands } from '../account/account.commands.js';
import { apiCommands } from '../api/api.commands.js';
import { appCommands } from '../apps/app.commands.js';
import { userCommands } from '../apps/user.commands.js';
import { configurationCommands } from '../configuration/configuration.commands.js';
import { deploymentCommands } from '../deployment/deployment.commands.js';
import { operationCommands } from '../operations/operation.commands.js';
import { priceCommands } from '../prices/price.commands.js';
import { profileCommands } from '../profiles/profile.commands.js';
import { gatewayCommands, providerCommands } from '../providers/provider.commands.js';
import { usageCommands } from '../usage/usage.commands.js';
import { webhookCommands } from '../webhooks/webhook.commands.js';
import type { Command } from './command.js';
import { completionCommands } from './completion.commands.js';

/** The meaning of the words that start several commands. */
export const GROUPS: Readonly<Record<string, string>> = {
  deployment: 'Connect gateways and check them',
  profile: 'Gateways that are saved on this machine, and the one in use',
  account: 'Log in, log out, and show the account',
  provider: 'Providers of the account and their keys',
  'provider-gateway': 'Upstream gateways for providers',
  app: 'Applications of the account',
  'app key': 'Keys of an application',
  'app user': 'Users of an application',
  'app sign-in': 'Sign-ins of the users of an application',
  'app play-integrity': 'What decodes the Play Integrity tokens of an application',
  price: 'Price catalog',
  model: 'Models with a price',
  usage: 'Usage and cost',
  audit: 'Audit trail of the account',
  webhook: 'Endpoints that receive events',
  member: 'Members of the account, in the console',
  operation: 'Operations that a person completes in a browser',
};

/** Every command of `gw`, in the order of its help. */
export const commands: readonly Command[] = [
  ...deploymentCommands,
  ...profileCommands,
  ...providerCommands,
  ...gatewayCommands,
  ...appCommands,
  ...userCommands,
  ...priceCommands,
  ...configurationCommands,
  ...usageCommands,
  ...webhookCommands,
  ...accountCommands,
  ...apiCommands,
  ...operationCommands,
  ...completionCommands,
];
