import { describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { aPriceBook } from '../../test/support/providers/price-books.js';
import { loadEnvironment } from '../platform/config/environment.js';
import type { ProviderRow } from './provider.entity.js';
import type { ProviderGatewayRow } from './provider-gateways/provider-gateway.entity.js';
import { ProviderGatewayListing } from './provider-gateways/provider-gateway-listing.js';
import { ProviderGatewaysRepository } from './provider-gateways/provider-gateways.repository.js';
import { ProviderListing } from './provider-listing.service.js';
import { ProviderRoutes } from './provider-routes.service.js';
import { ProvidersRepository } from './providers.repository.js';

/** A gateway of each kind. */
class Gateways extends ProviderGatewaysRepository {
  constructor() {
    super(new DataSource({ type: 'postgres' }));
  }

  override async list(organizationId: string): Promise<ProviderGatewayRow[]> {
    return (['cf_aig', 'vercel'] as const).map((type) => ({
      id: type,
      organizationId,
      type,
      name: type,
      config: type === 'cf_aig' ? { accountId: 'a', gatewayId: 'g' } : {},
      secretBlob: '',
      secretHint: '',
      revision: 1,
      status: 'active',
      createdBy: 'identity-1',
      createdAt: new Date('2026-01-01T00:00:00.000Z'),
      updatedAt: new Date('2026-01-01T00:00:00.000Z'),
    }));
  }
}

/** An instance of each type, all on the same route. */
class OneOfEach extends ProvidersRepository {
  constructor(private readonly providerGatewayId: string | null) {
    super(new DataSource({ type: 'postgres' }));
  }

  override async list(organizationId: string): Promise<ProviderRow[]> {
    return (['openai', 'openrouter', 'xai'] as const).map((type) => ({
      id: `id-${type}`,
      organizationId,
      type,
      slug: type,
      name: type,
      secretBlob: null,
      secretHint: null,
      baseUrl: null,
      providerGatewayId: this.providerGatewayId,
      gatewayRoute: null,
      pricing: type === 'openai' ? { 'own-model': { input: 1, output: 1 } } : null,
      status: 'disabled',
      revision: 1,
      createdBy: 'identity-1',
      createdAt: new Date('2026-01-01T00:00:00.000Z'),
      updatedAt: new Date('2026-01-01T00:00:00.000Z'),
      testedAt: null,
      testResult: null,
    }));
  }
}

async function setUp(providerGatewayId: string | null = null) {
  const listing = new ProviderListing(
    new OneOfEach(providerGatewayId),
    new ProviderRoutes(new ProviderGatewayListing(new Gateways()), loadEnvironment({})),
    aPriceBook({ openai: { 'gpt-4.1': { input: 2, output: 8 } } }),
  );
  const [openai, openrouter, xai] = await listing.listForOrganization('account-1');
  if (!openai || !openrouter || !xai) throw new Error('three rows expected');
  return { listing, openai, openrouter, xai };
}

describe('ProviderListing', () => {
  it('list: disabled instances too → with what their type serves', async () => {
    const { openai, openrouter } = await setUp();
    expect(openai).toMatchObject({
      id: 'id-openai',
      status: 'disabled',
      endpointStyles: ['responses', 'transcription'],
    });
    expect(openrouter).toMatchObject({ apiStyles: ['chat_completions'], endpointStyles: [] });
  });

  it('billable: catalog price or custom price → yes; neither → no', async () => {
    const { listing, openai, xai } = await setUp();
    expect(listing.isBillable(openai, 'gpt-4.1')).toBe(true);
    expect(listing.isBillable(openai, 'own-model')).toBe(true);
    expect(listing.isBillable(openai, 'unknown-model')).toBe(false);
    expect(listing.isBillable(xai, 'own-model', ['anthropic_messages'])).toBe(false);
  });

  it('billable: a provider that reports its cost → yes, for the styles whose answers contain it', async () => {
    const { listing, openrouter, xai } = await setUp();
    expect(listing.isBillable(openrouter, 'any/model')).toBe(true);
    expect(listing.isBillable(xai, 'unpriced', ['responses'])).toBe(true);
    expect(listing.isBillable(xai, 'unpriced', ['audio_transcription'])).toBe(false);
    expect(listing.isBillable(xai, 'unpriced', [])).toBe(false);
  });

  it('through vercel → its styles, no transcription; a reported cost no longer counts, so a price is needed', async () => {
    const { listing, openai, xai } = await setUp('vercel');
    expect(openai).toMatchObject({
      apiStyles: ['responses', 'chat_completions', 'anthropic_messages'],
      endpointStyles: ['responses'],
      costStyles: [],
    });
    expect(listing.isBillable(xai, 'unpriced', ['responses'])).toBe(false);
    expect(listing.isBillable(openai, 'own-model')).toBe(true);
    expect(listing.isBillable(openai, 'gpt-4.1')).toBe(true);
  });

  it('through cf_aig → the same as its type; a type that it does not serve → nothing', async () => {
    const { listing, openai, openrouter, xai } = await setUp('cf_aig');
    expect(openai.endpointStyles).toEqual(['responses', 'transcription']);
    expect(listing.isBillable(xai, 'unpriced', ['responses'])).toBe(true);
    expect(openrouter).toMatchObject({ apiStyles: [], endpointStyles: [], costStyles: [] });
  });
});
