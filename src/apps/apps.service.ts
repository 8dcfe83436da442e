import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { AdminPrincipal } from '../accounts/access/admin-principal.js';
import type { AuditEntry } from '../accounts/audit/audit-trail.js';
import { ConfigurationWrites } from '../accounts/audit/configuration-writes.js';
import type { AppRow } from '../app-directory/app.entity.js';
import { AppDirectoryService, appChange } from '../app-directory/app-directory.service.js';
import type { AppConfig, AppStatus } from '../app-directory/config/app-config.js';
import type { KnownProvider } from '../app-directory/config/app-references.rules.js';
import { BudgetChanges } from '../budgets/budget-events.js';
import { Clock } from '../common/clock.js';
import { GatewayError, invalidRequest } from '../common/errors/gateway-error.js';
import { violatesUnique } from '../platform/database/database-errors.js';
import { BackgroundDataSource } from '../platform/database/pools.js';
import { AppUsers } from '../users/users.service.js';
import { appChanges } from './app-audit.rules.js';
import { AppDraftsService, type CheckedConfig, handleTaken } from './app-drafts.service.js';
import {
  CHECK_LIMITATIONS,
  type EndpointReadiness,
  endpointReadiness,
  isReady,
  reachedProviders,
} from './app-readiness.rules.js';
import { appWarnings } from './app-warnings.rules.js';
import { type AppReplacement, AppsRepository } from './apps.repository.js';
import type { ReplaceAppRequest, ValidateAppRequest } from './dto/apps.request.js';

/** A valid configuration, and what to know of it. */
export interface ValidApp {
  readonly config: AppConfig;
  readonly warnings: readonly string[];
}

/** The result of a check. Source: docs/reference/management-api.md#application-check. */
export interface AppCheck extends ValidApp {
  readonly appId: string;
  readonly status: AppStatus;
  readonly providers: readonly KnownProvider[];
  readonly endpoints: readonly EndpointReadiness[];
  readonly ready: boolean;
  readonly limitations: readonly string[];
}

/** Replaces, validates, checks and deletes applications. The guard has checked their account. */
@Injectable()
export class AppsService {
  constructor(
    private readonly background: BackgroundDataSource,
    private readonly repository: AppsRepository,
    private readonly drafts: AppDraftsService,
    private readonly directory: AppDirectoryService,
    private readonly users: AppUsers,
    private readonly budgets: BudgetChanges,
    private readonly writes: ConfigurationWrites,
    private readonly clock: Clock,
  ) {}

  /**
   * Replaces an application; without a status or a handle it keeps the stored one. Disabling with an unchanged
   * configuration skips validation, so that it works even when the stored configuration is no longer valid.
   *
   * @throws app_revision_conflict the stored revision differs from `revision`, also after a write during this call.
   * @throws app_not_found it was deleted during this call.
   * @throws handle_taken another application has the handle, also for the loser of two concurrent writes.
   * @throws invalid_request the configuration is invalid.
   */
  async replace(admin: AdminPrincipal, app: AppRow, body: ReplaceAppRequest): Promise<AppRow> {
    const { name, config: raw, status, revision } = body;
    if (revision !== app.revision) throw staleRevision();
    const handle = await this.nextHandle(app, body.handle);
    const next = { name, handle, status: status ?? app.status };
    const isPause = next.status === 'disabled' && this.drafts.isUnchanged(app, raw);
    const config = isPause ? undefined : (await this.drafts.acceptReplacement(app, raw)).config;
    const written = await this.write(admin, app, { ...next, config });
    if (written !== undefined) return written;
    await this.directory.requireOwn(app.organizationId, app.id);
    throw staleRevision();
  }

  /**
   * @returns the configuration as it would be stored.
   * @throws app_revision_conflict, handle_taken, invalid_request as a replacement with this body.
   */
  async validate(app: AppRow, body: ValidateAppRequest): Promise<ValidApp> {
    const { config, handle, revision } = body;
    if (revision !== undefined && revision !== app.revision) throw staleRevision();
    await this.nextHandle(app, handle);
    return this.judged(app, await this.drafts.acceptReplacement(app, config, body.assumed()));
  }

  /** The handle after a write. @throws handle_taken another application has it. */
  private async nextHandle(app: AppRow, asked: string | null | undefined): Promise<string | null> {
    if (asked === undefined || asked === app.handle) return app.handle;
    await this.drafts.requireFreeHandle(app.organizationId, asked);
    return asked;
  }

  /**
   * Validates the stored configuration as a replacement of itself.
   *
   * @throws invalid_request the configuration is no longer valid.
   */
  async check(app: AppRow): Promise<AppCheck> {
    const checked = await this.drafts.acceptReplacement(app, app.config);
    const { config, providers } = checked;
    return {
      appId: app.id,
      ...(await this.judged(app, checked)),
      status: app.status,
      providers: reachedProviders(config, providers),
      endpoints: endpointReadiness(config, providers),
      ready: isReady(app.status, config, providers),
      limitations: CHECK_LIMITATIONS,
    };
  }

  private async judged(app: AppRow, checked: CheckedConfig): Promise<ValidApp> {
    const credentials = await this.repository.playCredentialsOf(app);
    return { config: checked.config, warnings: appWarnings(checked, credentials) };
  }

  /**
   * Deletes an application with its keys and users. Usage records stay.
   *
   * @returns the number of deleted users.
   * @throws invalid_request the confirmation is not the application's id.
   * @throws app_not_found it was deleted during this call.
   */
  async delete(admin: AdminPrincipal, app: AppRow, confirmation: string): Promise<number> {
    if (confirmation !== app.id) throw invalidRequest('confirm', 'must be the id of the application');
    const statements = async (tx: EntityManager) => {
      if (!(await this.repository.lock(tx, app))) throw new GatewayError('app_not_found');
      const result = await this.users.countOf(tx, app);
      await this.repository.delete(tx, app);
      const entry = { action: 'app.deleted', ...targetOf(app), details: { name: app.name } } as const;
      return { result, entry, changes: [appChange(app.id)] };
    };
    return this.writes.run(admin, statements, (all) => this.background.transaction(all));
  }

  private async write(admin: AdminPrincipal, app: AppRow, accepted: AppReplacement): Promise<AppRow | undefined> {
    const statements = async (tx: EntityManager) => {
      const result = await this.repository.replaceIfRevision(tx, app, accepted, this.clock.now());
      if (result === undefined) return { result };
      if (accepted.config !== undefined) await this.budgets.tell(tx, app.id, app.config);
      const { name, handle, status, revision } = result;
      const details = { name, ...(handle !== app.handle && { handle }), status, revision };
      const entry = { action: 'app.replaced', ...targetOf(app), details, changes: appChanges(app, result) } as const;
      return { result, entry, changes: [appChange(app.id)] };
    };
    try {
      return await this.writes.run(admin, statements);
    } catch (error) {
      if (accepted.handle !== null && violatesUnique(error, 'apps_handle_key')) throw handleTaken(accepted.handle);
      throw error;
    }
  }
}

function targetOf({ id }: AppRow): Pick<AuditEntry, 'targetType' | 'targetId' | 'appId'> {
  return { targetType: 'app', targetId: id, appId: id };
}

function staleRevision(): GatewayError {
  return new GatewayError('app_revision_conflict', { reason: 'stale_revision' });
}
