import type { Instant } from '../common/clock.js';
import type { AppStatus, Authentication } from './config/app-config.js';

/** A stored application. */
export interface AppRow {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  /** As stored, possibly by an older version; read it with `AppConfigParser`. */
  readonly config: unknown;
  /** The type in `config`, available even when the rest of it no longer parses. */
  readonly authenticationType: Authentication['type'];
  readonly revision: number;
  readonly status: AppStatus;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** The columns of `apps app` that make an {@link AppRow}. */
export const APP_COLUMNS = `app.id, app.organization_id AS "organizationId", app.name, app.config,
  app.authentication_type AS "authenticationType", app.revision, app.status,
  app.created_at AS "createdAt", app.updated_at AS "updatedAt"`;

/** The key by which every statement on an application's rows filters. */
export interface AppRef {
  readonly id: string;
  readonly organizationId: string;
}
