import { Module } from '@nestjs/common';
import { AccountOpening } from './account-opening.service.js';
import { AccountsRepository } from './accounts.repository.js';
import { AdminAuthentication } from './admin-authentication.service.js';
import { AuditEventsController } from './audit/audit-events.controller.js';
import { AuditEventsRepository } from './audit/audit-events.repository.js';
import { AuditReports } from './audit/audit-reports.service.js';
import { AuditTrail } from './audit/audit-trail.js';
import { BootstrapService } from './bootstrap.service.js';
import { ConsoleOrigin } from './first-party/console-origin.js';
import { FirstParty } from './first-party/first-party.js';
import { ManagementKeysRepository } from './management-keys.repository.js';
import { ManagementKeysService } from './management-keys.service.js';
import { ConsoleCookies } from './sessions/console-cookies.js';
import { CookieKeys } from './sessions/cookie-keys.js';
import { SessionsRepository } from './sessions/sessions.repository.js';
import { Sessions } from './sessions/sessions.service.js';

/**
 * Accounts, their identities and roles, and the credentials of the management API: management keys and console
 * sessions. Every change writes an entry through `AuditTrail`.
 *
 * Tables: organizations, identities, memberships, management_keys, sessions, audit_events. Routes:
 * `/v1/admin/audit-events`. Codes: auth_required, session_required, forbidden, grant_insufficient, account_expired,
 * no_eligible_organization. Log lines: bootstrap_account_created, bootstrap_key_ignored.
 */
@Module({
  controllers: [AuditEventsController],
  providers: [
    AccountOpening,
    AccountsRepository,
    AdminAuthentication,
    AuditEventsRepository,
    AuditReports,
    AuditTrail,
    BootstrapService,
    ConsoleCookies,
    ConsoleOrigin,
    CookieKeys,
    FirstParty,
    ManagementKeysRepository,
    ManagementKeysService,
    Sessions,
    SessionsRepository,
  ],
  exports: [
    AccountOpening,
    AdminAuthentication,
    AuditTrail,
    BootstrapService,
    ConsoleCookies,
    ConsoleOrigin,
    CookieKeys,
    ManagementKeysService,
    Sessions,
  ],
})
export class IdentityModule {}
