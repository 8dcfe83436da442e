import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { AdminPrincipal } from '../accounts/access/admin-principal.js';
import { type ConfigurationWrite, ConfigurationWrites } from '../accounts/audit/configuration-writes.js';
import type { AppRow } from '../app-directory/app.entity.js';
import type { IssuedAppKey } from '../app-keys/app-key.entity.js';
import { AppKeysService } from '../app-keys/app-keys.service.js';
import { Clock } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { Write } from '../idempotency/creation.js';
import { Ceilings } from '../limits/plans/ceilings.service.js';
import type { CreateProviderRequest } from '../providers/dto/provider.request.js';
import { AppDraftsService } from './app-drafts.service.js';
import { appWarnings } from './app-warnings.rules.js';
import { type AcceptedApp, AppsRepository } from './apps.repository.js';
import type { ValidApp } from './apps.service.js';
import type { CreateAppRequest } from './dto/apps.request.js';
import { NewAppIds } from './new-app-ids.service.js';

/** Source: docs/reference/management-api.md#application-objects-and-ids. */
const MAX_ID_DRAWS = 16;
/** Source: docs/reference/management-api.md#application-routes. */
const FIRST_KEY_NAME = 'Default key';

/** A new application, with its first key when it uses key authentication. */
export interface CreatedApp {
  readonly app: AppRow;
  readonly key: IssuedAppKey | null;
}

@Injectable()
export class CreateAppService {
  constructor(
    private readonly repository: AppsRepository,
    private readonly drafts: AppDraftsService,
    private readonly newIds: NewAppIds,
    private readonly keys: AppKeysService,
    private readonly ceilings: Ceilings,
    private readonly writes: ConfigurationWrites,
    private readonly clock: Clock,
  ) {}

  /**
   * Validates what `create` would store, and stores nothing.
   *
   * @returns the configuration as it would be stored, with its warnings.
   * @throws invalid_request, handle_taken as `create`.
   */
  async validate(
    { organizationId }: AdminPrincipal,
    { config, handle = null }: CreateAppRequest,
    assumed?: readonly CreateProviderRequest[],
  ): Promise<ValidApp> {
    const accepted = await this.drafts.acceptNew(organizationId, config, assumed);
    await this.drafts.requireFreeHandle(organizationId, handle);
    return { config: accepted.config, warnings: appWarnings(accepted, undefined) };
  }

  /**
   * Stores an application and its first key in one transaction of `write`.
   *
   * @throws invalid_request the configuration is invalid.
   * @throws handle_taken another application has the handle, also for the loser of two concurrent creates.
   * @throws conflict no free id was drawn; a retry may succeed.
   * @throws billing_plan_limit_reached, billing_payment_required, billing_unavailable as `Ceilings`, also for the key.
   */
  async create(admin: AdminPrincipal, body: CreateAppRequest, write: Write<CreatedApp>): Promise<CreatedApp> {
    const { config } = await this.drafts.acceptNew(admin.organizationId, body.config);
    const { name, handle = null, status = 'active' } = body;
    await this.drafts.requireFreeHandle(admin.organizationId, handle);
    const accepted: AcceptedApp = { name, handle, config, status };
    for (let draw = 0; draw < MAX_ID_DRAWS; draw++) {
      const id = await this.newIds.draw(name);
      if (id === undefined) continue;
      const created = await this.writes.run(admin, (tx) => this.store(tx, admin, { ...accepted, id }), write);
      if (created !== undefined) return created;
    }
    throw new GatewayError('conflict', { message: 'No free id was found for this name.', reason: 'app_id_exhausted' });
  }

  private async store(
    tx: EntityManager,
    admin: AdminPrincipal,
    accepted: AcceptedApp & { readonly id: string },
  ): Promise<ConfigurationWrite<CreatedApp | undefined>> {
    const { organizationId } = admin;
    await this.ceilings.requireRoom(tx, organizationId, 'apps', () => this.repository.countOf(tx, organizationId));
    const app = await this.repository.insert(tx, { ...accepted, organizationId }, this.clock.now());
    if (app === undefined) {
      await this.drafts.requireFreeHandle(organizationId, accepted.handle, tx);
      return { result: undefined };
    }
    const key = app.authenticationType === 'api_key' ? await this.keys.issue(tx, app, { name: FIRST_KEY_NAME }) : null;
    const target = { targetType: 'app', targetId: app.id, appId: app.id };
    const details = { name: app.name, ...(app.handle !== null && { handle: app.handle }) };
    return { result: { app, key }, entry: { action: 'app.created', ...target, details } };
  }
}
