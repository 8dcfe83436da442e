import type { Instant } from '../common/clock.js';
import type { AppStatus, Authentication } from './config/app-config.js';

/** A stored application. */
export interface AppRow {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  /** As stored, so perhaps by an older version: to be read with `AppConfigParser`. */
  readonly config: unknown;
  /** The type in `config`, readable even when the rest of it no longer is. */
  readonly authenticationType: Authentication['type'];
  readonly revision: number;
  readonly status: AppStatus;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** What to select from `apps app` to get an {@link AppRow}. */
export const APP_COLUMNS = `app.id, app.organization_id AS "organizationId", app.name, app.config,
  app.authentication_type AS "authenticationType", app.revision, app.status,
  app.created_at AS "createdAt", app.updated_at AS "updatedAt"`;

/** Which application, in which account: what every statement about its rows filters by. */
export interface AppRef {
  readonly id: string;
  readonly organizationId: string;
}
