import { Module } from '@nestjs/common';
import { ManagementKeysRepository } from './management-keys.repository.js';
import { ManagementKeysService } from './management-keys.service.js';

/**
 * Accounts, the identities in them, their roles, and the credentials of the management API.
 *
 * Tables: organizations, identities, memberships, management_keys.
 * Codes: auth_required, forbidden, grant_insufficient.
 */
@Module({
  providers: [ManagementKeysRepository, ManagementKeysService],
  exports: [ManagementKeysService],
})
export class IdentityModule {}
