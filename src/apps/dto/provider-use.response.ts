import { ApiProperty } from '@nestjs/swagger';
import type { ProviderUse, UsedProvider } from '../provider-use/provider-use.service.js';

/** Applications that are named; more are counted. */
const MOST_NAMED = 5;

class ProviderUserResponse {
  @ApiProperty({ type: 'string' })
  id: string;

  @ApiProperty({ type: 'string' })
  name: string;
}

class UsedProviderResponse {
  @ApiProperty({ type: 'string', format: 'uuid' })
  id: string;

  @ApiProperty({ type: 'string' })
  slug: string;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'Calls of all applications, without refused ones.' })
  requests: number;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'Those that ended with `provider_error`.' })
  errors: number;

  @ApiProperty({
    type: 'string',
    format: 'date',
    nullable: true,
    description: 'UTC day of the last successful call; null without one in these days.',
  })
  lastSuccessDay: string | null;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'Applications that can reach it, including disabled ones.' })
  appCount: number;

  @ApiProperty({ type: [ProviderUserResponse], description: 'At most five of them, by name.' })
  apps: ProviderUserResponse[];

  static from({ provider, calls, apps }: UsedProvider): UsedProviderResponse {
    const { requests, errors, lastSuccessDay } = calls;
    return Object.assign(new UsedProviderResponse(), {
      id: provider.id,
      slug: provider.slug,
      requests,
      errors,
      lastSuccessDay,
      appCount: apps.length,
      apps: apps.slice(0, MOST_NAMED),
    });
  }
}

export class ProviderUseResponse {
  @ApiProperty({ type: 'string', format: 'date', description: 'First UTC day.' })
  from: string;

  @ApiProperty({ type: 'string', format: 'date', description: 'Last UTC day, today.' })
  to: string;

  @ApiProperty({ type: [UsedProviderResponse], description: 'Oldest first, as in the list of providers.' })
  providers: UsedProviderResponse[];

  static from({ days, providers }: ProviderUse): ProviderUseResponse {
    return Object.assign(new ProviderUseResponse(), { ...days, providers: providers.map(UsedProviderResponse.from) });
  }
}
