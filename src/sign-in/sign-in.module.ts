import { Module } from '@nestjs/common';
import { AccessModule } from '../accounts/access/access.module.js';
import { OrganizationsModule } from '../accounts/organizations/organizations.module.js';
import { AddressLimitsModule } from '../platform/address-limits/address-limits.module.js';
import { Approvals } from './approvals/approvals.service.js';
import { BrowserClients, BrowserSessions } from './browser-sessions.service.js';
import { OwnSessionsController } from './own-sessions.controller.js';
import { PageSteps } from './page-form-steps.service.js';
import { PageSignIn } from './page-sign-in.service.js';
import { PasswordHashing } from './passwords/password-hashing.service.js';
import { PasswordsRepository } from './passwords/passwords.repository.js';
import { Passwords } from './passwords/passwords.service.js';
import { PeopleRepository } from './people/people.repository.js';
import { People } from './people/people.service.js';
import { ConsoleCapabilitiesController, SignInController } from './sign-in.controller.js';
import { Google } from './third-party/google.js';
import { OpenIdSubjectsRepository } from './third-party/openid-subjects.repository.js';
import { SignInStateCookie } from './third-party/sign-in-state-cookie.js';
import { ThirdPartyController } from './third-party/third-party.controller.js';
import { ThirdPartySignIn } from './third-party/third-party-sign-in.service.js';

/**
 * Sign-up, sign-in, sign-out, sessions, profiles and passwords of people, and their decisions on what clients ask for.
 *
 * Tables: passwords, openid_subjects, and people in identities; sessions are stored by `accounts`. Routes:
 * `/v1/auth/*`, `/v1/console/capabilities`. Codes: auth_required, registration_disabled, not_found, conflict, invalid_request,
 * rate_limited, service_unavailable. Log lines: third_party_sign_in_failed.
 */
@Module({
  imports: [AccessModule, AddressLimitsModule, OrganizationsModule],
  controllers: [SignInController, OwnSessionsController, ThirdPartyController, ConsoleCapabilitiesController],
  providers: [
    Approvals,
    BrowserClients,
    BrowserSessions,
    Google,
    OpenIdSubjectsRepository,
    PageSignIn,
    PageSteps,
    PasswordHashing,
    Passwords,
    PasswordsRepository,
    People,
    PeopleRepository,
    SignInStateCookie,
    ThirdPartySignIn,
  ],
  exports: [Approvals, BrowserClients, Google, PageSignIn, PageSteps, People],
})
export class SignInModule {}
