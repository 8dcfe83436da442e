import { Module } from '@nestjs/common';
import { IdentityModule } from '../identity.module.js';
import { AccountKeysRepository } from './account-keys.repository.js';
import { AccountKeys } from './account-keys.service.js';
import { ManagementKeysController } from './management-keys.controller.js';
import { OwnCredentialController } from './own-credential.controller.js';

/**
 * Management keys: made, listed and revoked by people, ended by whoever holds one. `identity` stores and proves them.
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
