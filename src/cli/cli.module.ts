import { Module } from '@nestjs/common';
import { AccessModule } from '../accounts/access/access.module.js';
import { OrganizationsModule } from '../accounts/organizations/organizations.module.js';
import { AppDirectoryModule } from '../app-directory/app-directory.module.js';
import { AppKeysModule } from '../app-keys/app-keys.module.js';
import { AppsModule } from '../apps/apps.module.js';
import { AddressLimitsModule } from '../platform/address-limits/address-limits.module.js';
import { ProvidersModule } from '../providers/providers.module.js';
import { SignInModule } from '../sign-in/sign-in.module.js';
import { UsageReportsModule } from '../usage/reports/usage-reports.module.js';
import { CliAccountController } from './account/cli-account.controller.js';
import { ChangeOperationsController } from './changes/change-operations.controller.js';
import { ChangeOperations } from './changes/change-operations.service.js';
import { ChangeRequests } from './changes/change-requests.service.js';
import { KeyReveals } from './changes/key-reveals.service.js';
import { RevealPageController } from './changes/reveal-page.controller.js';
import { ApprovalPageController } from './handoff/approval-page.controller.js';
import { HandoffController } from './handoff/handoff.controller.js';
import { Handoffs } from './handoff/handoff.service.js';
import { CliLoginController } from './logins/cli-login.controller.js';
import { CliLogins } from './logins/cli-logins.service.js';
import { LoginKeys } from './logins/login-keys.service.js';
import { UserCodes } from './logins/user-codes.service.js';
import { CliBootstrap } from './operations/cli-bootstrap.service.js';
import { OperationSeals } from './operations/operation-seals.js';
import { OperationsController } from './operations/operations.controller.js';
import { OperationsRepository } from './operations/operations.repository.js';
import { Operations } from './operations/operations.service.js';
import { PendingOperations } from './operations/pending-operations.service.js';
import { ResourceOperations } from './operations/resource-operations.js';
import { TerminalOperations } from './operations/terminal-operations.service.js';

/**
 * Terminals: logins that a person approves in a browser, the first account of a deployment, and operations that run at
 * once or on an approval page. The same operations for AI clients, whose keys a person reveals in the console.
 *
 * A login has three parties. The terminal holds a random token, from which id, proof and user code are derived. Only
 * its hash is stored. The browser holds the proof, behind `#` of the link, or the user code. The signed-in person
 * approves: one transaction locks the row, creates the key, seals it and completes the login. The terminal polls, or
 * exchanges a one-time code that the browser brings back.
 *
 * Every change of state locks the row. The statement that sets `delivered_at` delivers the key, so one of many polls
 * gets it. A key counts as delivered even if the process is killed before it answers.
 *
 * Tables: cli_operations. Routes: `/v1/cli/*` except `DELETE /v1/cli/credential`, `/v1/admin/operations/{id}`, its
 * `reveal`, and the pages `/cli`, `/cli/approve/{id}`, `/reveal/{id}`. Codes: operation_pending, operation_denied,
 * operation_expired, operation_not_found, operation_mismatch, already_completed, already_revealed, session_required,
 * forbidden, not_found, conflict, rate_limited. Log lines: cli_login_opened, cli_login_approved, cli_login_collected,
 * cli_operation_denied, user_codes_refused.
 */
@Module({
  imports: [
    AccessModule,
    AddressLimitsModule,
    OrganizationsModule,
    SignInModule,
    AppDirectoryModule,
    AppKeysModule,
    AppsModule,
    ProvidersModule,
    UsageReportsModule,
  ],
  controllers: [
    ApprovalPageController,
    ChangeOperationsController,
    RevealPageController,
    CliLoginController,
    OperationsController,
    HandoffController,
    CliAccountController,
  ],
  providers: [
    ChangeOperations,
    ChangeRequests,
    CliBootstrap,
    CliLogins,
    Handoffs,
    KeyReveals,
    LoginKeys,
    OperationSeals,
    Operations,
    OperationsRepository,
    PendingOperations,
    ResourceOperations,
    TerminalOperations,
    UserCodes,
  ],
})
export class CliModule {}
