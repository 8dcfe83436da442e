import { GatewayError } from '../../common/errors/gateway-error.js';
import { UpdateProviderRequest } from '../../providers/dto/provider.request.js';
import { RenameGatewayRequest } from '../../providers/provider-gateways/dto/provider-gateway.request.js';
import { ProviderGatewaysController } from '../../providers/provider-gateways/provider-gateways.controller.js';
import { ProvidersController } from '../../providers/providers.controller.js';
import { counted, quoted, type Tool, tool } from './tool.js';

const PROVIDER_ID = { id: 'Id of the provider.' };
const GATEWAY_ID = { id: 'Id of the provider gateway.' };

/** Tools of providers and the gateways they are routed through. */
export const PROVIDER_TOOLS: readonly Tool[] = [
  tool({
    name: 'list_providers',
    title: 'List providers',
    route: [ProvidersController, 'list'],
    run: (providers, { admin }) => providers.list(admin),
    summary: ({ providers }) => `${counted(providers.length, 'provider')}.`,
  }),
  tool({
    name: 'get_provider',
    title: 'Read a provider',
    description: 'One provider instance of the account.',
    route: [ProvidersController, 'list'],
    named: { provider: 'Id or slug of the provider.' },
    run: async (routes, { admin, named }) => {
      const { providers } = await routes.list(admin);
      const provider = providers.find(({ id, slug }) => id === named.provider || slug === named.provider);
      if (provider === undefined) throw new GatewayError('provider_not_found');
      return { provider };
    },
    summary: ({ provider }) => `${quoted(provider.name)} (${provider.type}) is ${provider.status}.`,
  }),
  tool({
    name: 'update_provider',
    title: 'Change a provider',
    route: [ProvidersController, 'update'],
    named: PROVIDER_ID,
    input: UpdateProviderRequest,
    destructive: true,
    run: (providers, { admin, named: { id = '' }, input }) => providers.update(admin, id, input),
    summary: ({ provider }) => `${provider.slug} is at revision ${provider.revision}.`,
  }),
  tool({
    name: 'remove_provider',
    title: 'Delete a provider',
    route: [ProvidersController, 'delete'],
    named: PROVIDER_ID,
    confirms: 'id',
    destructive: true,
    run: (providers, { admin, named: { id = '' } }) => providers.delete(admin, id),
    summary: ({ provider_id }) => `The provider ${provider_id} is deleted.`,
  }),
  tool({
    name: 'list_provider_gateways',
    title: 'List provider gateways',
    route: [ProviderGatewaysController, 'list'],
    run: (gateways, { admin }) => gateways.list(admin),
    summary: ({ gateways }) => `${counted(gateways.length, 'provider gateway')}.`,
  }),
  tool({
    name: 'update_provider_gateway',
    title: 'Rename a provider gateway',
    route: [ProviderGatewaysController, 'rename'],
    named: GATEWAY_ID,
    input: RenameGatewayRequest,
    destructive: true,
    run: (gateways, { admin, named: { id = '' }, input }) => gateways.rename(admin, id, input),
    summary: ({ gateway }) => `The provider gateway is called ${quoted(gateway.name)}.`,
  }),
  tool({
    name: 'remove_provider_gateway',
    title: 'Delete a provider gateway',
    route: [ProviderGatewaysController, 'delete'],
    named: GATEWAY_ID,
    confirms: 'id',
    destructive: true,
    run: (gateways, { admin, named: { id = '' } }) => gateways.delete(admin, id),
    summary: ({ provider_gateway_id }) => `The provider gateway ${provider_gateway_id} is deleted.`,
  }),
];
