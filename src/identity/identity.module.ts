import { Module } from '@nestjs/common';
import { AccountsRepository } from './accounts.repository.js';
import { BootstrapService } from './bootstrap.service.js';
import { ManagementKeysRepository } from './management-keys.repository.js';
import { ManagementKeysService } from './management-keys.service.js';

/**
 * Accounts, the identities in them, their roles, and the credentials of the management API.
 *
 * Tables: organizations, identities, memberships, management_keys. Routes: none yet.
 * Codes: auth_required, forbidden, grant_insufficient. Log lines: bootstrap_account_created, bootstrap_key_ignored.
 */
@Module({
  providers: [AccountsRepository, BootstrapService, ManagementKeysRepository, ManagementKeysService],
  exports: [BootstrapService, ManagementKeysService],
})
export class IdentityModule {}
