import { Injectable } from '@nestjs/common';
import { ConsoleOrigin } from '../../accounts/csrf/csrf-origins.js';
import type { AppRow } from '../../app-directory/app.entity.js';
import { AppDraftsService } from '../app-drafts.service.js';
import type { Snippet } from '../dto/app-snippet.response.js';
import { kotlinSnippet } from './kotlin-snippet.rules.js';
import { shellSnippet } from './shell-snippet.rules.js';
import { type SnippetQuestion, snippetTarget } from './snippet-target.rules.js';
import { swiftSnippet } from './swift-snippet.rules.js';

/** Writes example calls of applications. */
@Injectable()
export class AppSnippets {
  constructor(
    private readonly drafts: AppDraftsService,
    private readonly origin: ConsoleOrigin,
  ) {}

  /**
   * @param origin where the example calls; the configured address when absent.
   * @throws invalid_request the stored configuration is no longer valid, or both a provider and an endpoint are named.
   * @throws endpoint_not_found, provider_not_found the application has no such one.
   * @throws unsupported_snippet there is no example of such a call.
   */
  async snippetOf(app: AppRow, question: SnippetQuestion, origin = this.origin.url): Promise<Snippet> {
    const { config, providers } = await this.drafts.acceptReplacement(app, app.config);
    const target = snippetTarget(config, providers, question);
    const call = { origin, appId: app.id, authentication: config.authentication, target };
    if (question.language === 'kotlin') return kotlinSnippet(call);
    return question.language === 'swift' ? swiftSnippet(call) : shellSnippet(call);
  }
}
