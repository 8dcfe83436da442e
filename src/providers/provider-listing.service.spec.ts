import { describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { PriceBook } from '../pricing/price-book.js';
import { ProviderListing } from './provider-listing.service.js';
import type { ProviderRow } from './provider-row.js';
import { ProvidersRepository } from './providers.repository.js';

class OneOfEach extends ProvidersRepository {
  constructor() {
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
      providerGatewayId: null,
      gatewayRoute: null,
      pricing: type === 'openai' ? { 'own-model': { input: 1, output: 1 } } : null,
      status: 'disabled',
      revision: 1,
      createdBy: 'identity-1',
      createdAt: '2026-01-01T00:00:00.000Z',
    }));
  }
}

async function setUp() {
  const listing = new ProviderListing(
    new OneOfEach(),
    new PriceBook({ openai: { 'gpt-4.1': { input: 2, output: 8 } } }),
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

  it('billable: catalog price or own price → yes; neither → no', async () => {
    const { listing, openai, xai } = await setUp();
    expect(listing.isBillable(openai, 'gpt-4.1')).toBe(true);
    expect(listing.isBillable(openai, 'own-model')).toBe(true);
    expect(listing.isBillable(openai, 'unknown-model')).toBe(false);
    expect(listing.isBillable(xai, 'own-model', ['anthropic_messages'])).toBe(false);
  });

  it('billable: a provider that reports its cost → yes, on the styles whose answers carry it', async () => {
    const { listing, openrouter, xai } = await setUp();
    expect(listing.isBillable(openrouter, 'any/model')).toBe(true);
    expect(listing.isBillable(xai, 'unpriced', ['responses'])).toBe(true);
    expect(listing.isBillable(xai, 'unpriced', ['audio_transcription'])).toBe(false);
    expect(listing.isBillable(xai, 'unpriced', [])).toBe(false);
  });
});
