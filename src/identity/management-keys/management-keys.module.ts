import { Module } from '@nestjs/common';
import { IdentityModule } from '../identity.module.js';
import { AccountKeysRepository } from './account-keys.repository.js';
import { AccountKeys } from './account-keys.service.js';
import { ManagementKeysController } from './management-keys.controller.js';
import { OwnCredentialController } from './own-credential.controller.js';

/**
 * Management keys: the account's members create, list and revoke them; a holder can end its own. `identity` stores and
 * authenticates them.
 *
 * Tables: management_keys, of one account each. Routes: `/v1/admin/keys*`, `DELETE /v1/cli/credential`. Codes:
 * not_found, conflict. Log lines: none.
 */
@Module({
  imports: [IdentityModule],
  controllers: [ManagementKeysController, OwnCredentialController],
  providers: [AccountKeys, AccountKeysRepository],
})
export class ManagementKeysModule {}
