import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { AppConfigParser } from '../app-directory/app-config-parser.js';
import type { AppRow } from '../app-directory/app-row.js';
import type { AppConfig } from '../app-directory/config/app-config.js';
import { checkReferences, type KnownProvider } from '../app-directory/config/app-references.rules.js';
import { judgeEndpointParams } from '../proxy/endpoints/endpoint-params.js';
import { AccountProvidersService } from './account-providers.service.js';

/** A configuration that was accepted, and the providers it was judged against. */
export interface JudgedConfig {
  readonly config: AppConfig;
  readonly providers: readonly KnownProvider[];
}

/** Judges configurations, so that create, replace, validate and check give the same answers. */
@Injectable()
export class AppDraftsService {
  constructor(
    private readonly parser: AppConfigParser,
    private readonly providers: AccountProvidersService,
  ) {}

  /** @throws invalid_request naming the first place that is wrong; providers must all exist. */
  acceptNew(organizationId: string, raw: unknown): Promise<JudgedConfig> {
    return this.judge(organizationId, this.parser.parse(raw), undefined);
  }

  /**
   * Judges what would replace an application. Providers that the stored configuration names may be gone
   *.
   *
   * @throws invalid_request naming the first place that is wrong.
   */
  acceptReplacement(app: AppRow, raw: unknown): Promise<JudgedConfig> {
    return this.judge(app.organizationId, this.parser.parse(raw), this.parser.read(app.config).config);
  }

  /** Whether this is what the application has already, as it is stored or as it is answered. */
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

/** What a client would read: without prototypes, and without members that are undefined. */
function asJson(config: unknown): unknown {
  return JSON.parse(JSON.stringify(config));
}
