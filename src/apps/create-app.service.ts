import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Ceilings } from '../allowance/ceilings.service.js';
import type { AppRow } from '../app-directory/app-row.js';
import { Clock } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { IssuedAppKey } from '../keys/app-key.js';
import { AppKeysService } from '../keys/app-keys.service.js';
import { AppDraftsService } from './app-drafts.service.js';
import { type AcceptedApp, AppsRepository } from './apps.repository.js';
import type { CreateAppRequest } from './dto/create-app.request.js';
import { NewAppIds } from './new-app-ids.service.js';

/** Source: contract-admin 2.2. */
const MAX_ID_DRAWS = 16;
/** Source: contract-admin 2.3. */
const FIRST_KEY_NAME = 'Default key';

/** A new application and, when its callers use keys, its first one. */
export interface CreatedApp {
  readonly app: AppRow;
  readonly key: IssuedAppKey | null;
}

/** Creates applications. */
@Injectable()
export class CreateAppService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly repository: AppsRepository,
    private readonly drafts: AppDraftsService,
    private readonly newIds: NewAppIds,
    private readonly keys: AppKeysService,
    private readonly ceilings: Ceilings,
    private readonly clock: Clock,
  ) {}

  /**
   * Stores an application and its first key, both or neither.
   *
   * @throws invalid_request the configuration is not acceptable.
   * @throws conflict no free id was drawn; trying again may help.
   * @throws billing_plan_limit_reached, billing_payment_required, billing_unavailable as `Ceilings` says, also for the key.
   */
  async create(organizationId: string, body: CreateAppRequest): Promise<CreatedApp> {
    const { config } = await this.drafts.acceptNew(organizationId, body.config);
    const accepted: AcceptedApp = { name: body.name, config, status: body.status ?? 'active' };
    for (let draw = 0; draw < MAX_ID_DRAWS; draw++) {
      const id = await this.newIds.draw(body.name);
      const created = id === undefined ? undefined : await this.store(organizationId, id, accepted);
      if (created !== undefined) return created;
    }
    throw new GatewayError('conflict', { message: 'No free id was found for this name.', reason: 'app_id_exhausted' });
  }

  private store(organizationId: string, id: string, accepted: AcceptedApp): Promise<CreatedApp | undefined> {
    return this.dataSource.transaction(async (tx) => {
      await this.ceilings.requireRoom(tx, organizationId, 'apps', () => this.repository.countOf(tx, organizationId));
      const app = await this.repository.insert(tx, { ...accepted, id, organizationId }, this.clock.now());
      if (app === undefined) return undefined;
      const key = app.authenticationType === 'api_key' ? await this.keys.issue(tx, app, FIRST_KEY_NAME) : null;
      return { app, key };
    });
  }
}
