import { Injectable } from '@nestjs/common';
import type { AdminPrincipal } from '../../../accounts/access/admin-principal.js';
import { ConfigurationWrites } from '../../../accounts/audit/configuration-writes.js';
import type { AppRow } from '../../../app-directory/app.entity.js';
import { Clock } from '../../../common/clock.js';
import { GatewayError } from '../../../common/errors/gateway-error.js';
import { Ids } from '../../../common/ids.js';
import { violatesForeignKey } from '../../../platform/database/database-errors.js';
import { Vault } from '../../../platform/vault/vault.js';
import type { PutPlayCredentialsRequest } from './dto/play-credentials.request.js';
import type { PlayCredentialRow } from './play-credential.entity.js';
import { PlayCredentialsRepository } from './play-credentials.repository.js';
import { playCredentialContext, readSentCredentials } from './play-credentials.rules.js';

/** Write side of the credentials that decode integrity tokens. The guard has checked the application's account. */
@Injectable()
export class PlayCredentialsService {
  constructor(
    private readonly credentials: PlayCredentialsRepository,
    private readonly writes: ConfigurationWrites,
    private readonly vault: Vault,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  list(app: AppRow): Promise<readonly PlayCredentialRow[]> {
    return this.credentials.list(app);
  }

  /**
   * Seals and stores credentials; those of the same kind are replaced. The next registration uses them.
   *
   * @returns all credentials of the application.
   * @throws invalid_request; provider_unavailable the vault cannot seal; app_not_found it was deleted during this call.
   */
  async put(
    admin: AdminPrincipal,
    app: AppRow,
    body: PutPlayCredentialsRequest,
  ): Promise<readonly PlayCredentialRow[]> {
    const { kind, secret, hint } = readSentCredentials(body);
    const place = { organizationId: app.organizationId, appId: app.id, kind };
    const secretBlob = await this.vault.seal(secret, playCredentialContext(place));
    const row = { ...place, id: this.ids.uuid(), secretBlob, hint, updatedAt: this.clock.now() };
    const entry = { action: 'play_credentials.replaced', ...targetOf(app), details: { kind, hint } } as const;
    try {
      await this.writes.run(admin, async (tx) => ({ result: await this.credentials.put(tx, row), entry }));
    } catch (error) {
      if (!violatesForeignKey(error, 'play_credentials_app_fkey')) throw error;
      throw new GatewayError('app_not_found', { reason: 'app_deleted' });
    }
    return this.credentials.list(app);
  }

  /** Deletes all credentials of an application; repeating it changes nothing. */
  async delete(admin: AdminPrincipal, app: AppRow): Promise<void> {
    const entry = { action: 'play_credentials.deleted', ...targetOf(app) } as const;
    await this.writes.run(admin, async (tx) => {
      const isDeleted = await this.credentials.delete(tx, app);
      return { result: undefined, ...(isDeleted && { entry }) };
    });
  }
}

function targetOf({ id }: AppRow) {
  return { targetType: 'app', targetId: id, appId: id } as const;
}
