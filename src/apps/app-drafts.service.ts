import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { AppConfigParser } from '../app-directory/app-config-parser.js';
import type { AppRow } from '../app-directory/app-row.js';
import type { AppConfig } from '../app-directory/config/app-config.js';
import { checkReferences, type KnownProvider } from '../app-directory/config/app-references.rules.js';
import { judgeEndpointParams } from '../proxy/endpoints/endpoint-params.js';
import { AccountProvidersService } from './account-providers.service.js';

/** A valid configuration, and the providers it was validated against. */
export interface JudgedConfig {
  readonly config: AppConfig;
  readonly providers: readonly KnownProvider[];
}

/** Validates configurations for create, replace, validate and check, so that their results agree. */
@Injectable()
export class AppDraftsService {
  constructor(
    private readonly parser: AppConfigParser,
    private readonly providers: AccountProvidersService,
  ) {}

  /** @throws invalid_request naming the first invalid place; every named provider must exist. */
  acceptNew(organizationId: string, raw: unknown): Promise<JudgedConfig> {
    return this.judge(organizationId, this.parser.parse(raw), undefined);
  }

  /**
   * Validates a replacement. Providers that the stored configuration already names may be missing.
   *
   * @throws invalid_request naming the first invalid place.
   */
  acceptReplacement(app: AppRow, raw: unknown): Promise<JudgedConfig> {
    return this.judge(app.organizationId, this.parser.parse(raw), this.parser.read(app.config).config);
  }

  /** Whether the input equals the stored configuration, either as stored or as the API returns it. */
  isUnchanged(app: AppRow, raw: unknown): boolean {
    const sent = asJson(raw);
    const answered = this.parser.read(app.config).config ?? app.config;
    return [app.config, answered].some((config) => isDeepStrictEqual(sent, asJson(config)));
  }

  private async judge(organizationId: string, config: AppConfig, stored: AppConfig | undefined): Promise<JudgedConfig> {
    const account = await this.providers.of(organizationId);
    checkReferences(config, account, stored);
    await judgeEndpointParams(config, account.all);
    return { config, providers: account.all };
  }
}

/** The JSON form: without prototypes and `undefined` members. */
function asJson(config: unknown): unknown {
  return JSON.parse(JSON.stringify(config));
}
