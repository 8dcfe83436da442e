import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Ids } from '../../common/ids.js';
import { Log } from '../../common/log/log.js';
import type { Secret } from '../../common/log/secret.js';
import { Environment } from '../../platform/config/environment.js';
import { ManagementKeysService } from '../management-keys/management-keys.service.js';
import { newServiceActor } from './admin-principal.js';
import { NewOrganizations } from './new-organizations.service.js';

const SERVICE_IDENTITY_NAME = 'Bootstrap service';
const KEY_NAME = 'Bootstrap key';
/** The deployment itself; no client made a request. */
const ACTION_SOURCE = 'system';

type Outcome =
  | { readonly kind: 'created'; readonly organizationId: string }
  | { readonly kind: 'already_accepted' }
  | { readonly kind: 'ignored'; readonly reason: 'account_exists' | 'key_revoked' };

/** Creates the first organization of a deployment from a configured management key. */
@Injectable()
export class BootstrapService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly organizations: NewOrganizations,
    private readonly keys: ManagementKeysService,
    private readonly environment: Environment,
    private readonly ids: Ids,
    private readonly log: Log,
  ) {}

  /** Runs at start-up before the service listens, so that the first request finds the organization. */
  async run(): Promise<void> {
    const key = this.environment.BOOTSTRAP_MANAGEMENT_KEY;
    if (key === undefined) return;
    const outcome = await this.dataSource.transaction((tx) => this.createFirst(tx, key));
    if (outcome.kind === 'created') {
      this.log.event('bootstrap_account_created', { organizationId: outcome.organizationId });
    }
    if (outcome.kind === 'ignored') this.log.event('bootstrap_key_ignored', { reason: outcome.reason });
  }

  /** Whether the deployment has any organization. If not, the start banner explains how to create the first one. */
  hasAnyOrganization(): Promise<boolean> {
    return this.organizations.hasAny();
  }

  /** Inserts organization and key under a lock: of several instances that start at once, one succeeds. */
  private async createFirst(tx: EntityManager, key: Secret): Promise<Outcome> {
    if (!(await this.organizations.isFirst(tx))) {
      const stored = await this.keys.findRevocation(tx, key);
      if (stored === undefined) return { kind: 'ignored', reason: 'account_exists' };
      return stored.revoked ? { kind: 'ignored', reason: 'key_revoked' } : { kind: 'already_accepted' };
    }
    const organizationId = `private-${this.ids.uuid()}`;
    const { identityId } = await this.organizations.createForService(tx, {
      organizationId,
      serviceName: SERVICE_IDENTITY_NAME,
      actionSource: ACTION_SOURCE,
    });
    const terms = { organizationId, identityId, name: KEY_NAME, grant: 'manage', source: 'bootstrap' } as const;
    await this.keys.store(tx, key, terms, newServiceActor(organizationId, identityId, ACTION_SOURCE));
    return { kind: 'created', organizationId };
  }
}
