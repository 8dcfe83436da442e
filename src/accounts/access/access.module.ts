import { Module } from '@nestjs/common';
import { AuditEventsController } from '../audit/audit-events.controller.js';
import { AuditEventsRepository } from '../audit/audit-events.repository.js';
import { AuditTrail } from '../audit/audit-trail.js';
import { ConfigurationWrites } from '../audit/configuration-writes.js';
import { ConnectionsRepository } from '../connections/connections.repository.js';
import { Connections } from '../connections/connections.service.js';
import { ConsoleOrigin, FirstParty } from '../csrf/csrf-origins.js';
import { ManagementKeyUses } from '../management-keys/management-key-uses.js';
import { ManagementKeysController, OwnCredentialController } from '../management-keys/management-keys.controller.js';
import { ManagementKeysRepository } from '../management-keys/management-keys.repository.js';
import { ManagementKeysService } from '../management-keys/management-keys.service.js';
import { ConsoleCookies, CookieKeys } from '../sessions/console-cookies.js';
import { SessionsRepository } from '../sessions/sessions.repository.js';
import { Sessions } from '../sessions/sessions.service.js';
import { AdminAuthentication } from './admin-authentication.service.js';
import { BootstrapService } from './bootstrap.service.js';
import { Deployment } from './deployment.js';
import { NewOrganizationsRepository } from './new-organizations.repository.js';
import { NewOrganizations } from './new-organizations.service.js';

/**
 * Organizations, their identities and roles, and the credentials of the management API: management keys and console
 * sessions. Every change writes an entry through `AuditTrail`.
 *
 * Tables: deployment, organizations, identities, memberships, management_keys, oauth_tokens, sessions, audit_events.
 * Routes: `/v1/admin/audit-events`, `/v1/admin/keys*`, `DELETE /v1/cli/credential`. Codes: auth_required,
 * session_required, forbidden, grant_insufficient, account_expired, no_eligible_organization, not_found, conflict. Log
 * lines: bootstrap_account_created, bootstrap_key_ignored, management_key_use_write_failed, oauth_connection_ended.
 */
@Module({
  controllers: [AuditEventsController, ManagementKeysController, OwnCredentialController],
  providers: [
    AdminAuthentication,
    AuditEventsRepository,
    AuditTrail,
    BootstrapService,
    ConfigurationWrites,
    Connections,
    ConnectionsRepository,
    ConsoleCookies,
    ConsoleOrigin,
    CookieKeys,
    Deployment,
    FirstParty,
    ManagementKeysRepository,
    ManagementKeysService,
    ManagementKeyUses,
    NewOrganizations,
    NewOrganizationsRepository,
    Sessions,
    SessionsRepository,
  ],
  exports: [
    AdminAuthentication,
    AuditTrail,
    BootstrapService,
    ConfigurationWrites,
    Connections,
    ConsoleCookies,
    ConsoleOrigin,
    CookieKeys,
    Deployment,
    ManagementKeysService,
    NewOrganizations,
    Sessions,
  ],
})
export class AccessModule {}
