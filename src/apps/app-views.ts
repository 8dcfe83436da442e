import { Injectable } from '@nestjs/common';
import type { AppRow } from '../app-directory/app.entity.js';
import { AppConfigParser } from '../app-directory/app-config-parser.js';
import { type ResolvedApp, resolveApp } from '../app-directory/config/resolved-app.rules.js';

/** An application as the API returns it. Source: docs/reference/management-api.md#application-objects-and-ids. */
export interface AppView {
  readonly app: AppRow;
  /** Normalised; as stored when it no longer parses, so that the operator can repair it. */
  readonly config: unknown;
  /** Null exactly when `configError` is set. */
  readonly resolved: ResolvedApp | null;
  readonly configError: string | null;
}

/** Prepares stored applications for responses. */
@Injectable()
export class AppViews {
  constructor(private readonly parser: AppConfigParser) {}

  of(app: AppRow): AppView {
    const { config, configError } = this.parser.read(app.config);
    if (config === undefined) return { app, config: app.config, resolved: null, configError };
    const { id, name, status } = app;
    return { app, config, resolved: resolveApp({ id, name, status, config }), configError };
  }
}
