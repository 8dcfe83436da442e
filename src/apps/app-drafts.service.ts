import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { AppRow } from '../app-directory/app.entity.js';
import { AppConfigParser } from '../app-directory/app-config-parser.js';
import type { AppConfig } from '../app-directory/config/app-config.js';
import { checkReferences } from '../app-directory/config/app-references.rules.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { CreateProviderRequest } from '../providers/dto/provider.request.js';
import type { ListedProvider } from '../providers/provider-listing.service.js';
import { validateEndpointParams } from '../proxy/endpoints/endpoint-params.js';
import { AccountProvidersService } from './account-providers.js';
import { AppsRepository } from './apps.repository.js';

/** Providers that a validation counts in, without keys. */
type AssumedProviders = readonly CreateProviderRequest[] | undefined;

/** A valid configuration, and the providers it was validated against. */
export interface CheckedConfig {
  readonly config: AppConfig;
  readonly providers: readonly ListedProvider[];
}

/** Validates configurations for create, replace, validate and check, so that their results agree. */
@Injectable()
export class AppDraftsService {
  constructor(
    private readonly parser: AppConfigParser,
    private readonly providers: AccountProvidersService,
    private readonly apps: AppsRepository,
  ) {}

  /**
   * @param assumed providers that are to be added or changed first.
   * @throws invalid_request naming the first invalid place; every named provider must exist.
   */
  acceptNew(organizationId: string, raw: unknown, assumed?: AssumedProviders): Promise<CheckedConfig> {
    return this.validate(organizationId, this.parser.parse(raw), undefined, assumed);
  }

  /**
   * Validates a replacement. Providers that the stored configuration already names may be missing.
   *
   * @throws invalid_request naming the first invalid place.
   */
  acceptReplacement(app: AppRow, raw: unknown, assumed?: AssumedProviders): Promise<CheckedConfig> {
    return this.validate(app.organizationId, this.parser.parse(raw), this.parser.read(app.config).config, assumed);
  }

  /** Whether the input equals the stored configuration, either as stored or as the API returns it. */
  isUnchanged(app: AppRow, raw: unknown): boolean {
    const sent = asJson(raw);
    const answered = this.parser.read(app.config).config ?? app.config;
    return [app.config, answered].some((config) => isDeepStrictEqual(sent, asJson(config)));
  }

  /**
   * @param handle null: none is asked for.
   * @throws handle_taken another application of the account has it.
   */
  async requireFreeHandle(organizationId: string, handle: string | null, tx?: EntityManager): Promise<void> {
    if (handle !== null && (await this.apps.hasHandle(tx, organizationId, handle))) throw handleTaken(handle);
  }

  private async validate(
    organizationId: string,
    config: AppConfig,
    stored: AppConfig | undefined,
    assumed?: AssumedProviders,
  ): Promise<CheckedConfig> {
    const account = await this.providers.of(organizationId, assumed);
    checkReferences(config, account, stored);
    await validateEndpointParams(config, account);
    return { config, providers: account.all };
  }
}

/** The refusal of a handle that another application of the account has. */
export function handleTaken(handle: string): GatewayError {
  return new GatewayError('handle_taken', {
    message: `handle: "${handle}" is already used by another application; choose another handle.`,
  });
}

/** The JSON form: without prototypes and `undefined` members. */
function asJson(config: unknown): unknown {
  return JSON.parse(JSON.stringify(config));
}
