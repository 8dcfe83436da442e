import { Module } from '@nestjs/common';
import { AccessModule } from '../accounts/access/access.module.js';
import { OrganizationsModule } from '../accounts/organizations/organizations.module.js';
import { AddressLimitsModule } from '../platform/address-limits/address-limits.module.js';
import { Approvals } from './approvals/approvals.service.js';
import { BrowserClients, BrowserSessions } from './browser-sessions.service.js';
import { OwnSessionsController } from './own-sessions.controller.js';
import { PageSteps } from './page-form-steps.service.js';
import { PageSignIn } from './page-sign-in.service.js';
import { PasskeyBindingCookie } from './passkeys/passkey-binding-cookie.js';
import { PasskeysRepository } from './passkeys/passkeys.repository.js';
import { Passkeys } from './passkeys/passkeys.service.js';
import { RelyingParties } from './passkeys/relying-parties.js';
import { PasskeysController } from './passkeys.controller.js';
import { PasswordHashing } from './passwords/password-hashing.service.js';
import { PasswordReplacement } from './passwords/password-replacement.service.js';
import { PasswordsRepository } from './passwords/passwords.repository.js';
import { Passwords } from './passwords/passwords.service.js';
import { PeopleRepository } from './people/people.repository.js';
import { People } from './people/people.service.js';
import { PasswordResets } from './recovery/password-resets.service.js';
import { RecoveryRepository } from './recovery/recovery.repository.js';
import { RecoveryCodes } from './recovery/recovery-codes.service.js';
import { PasswordResetsController, RecoveryController } from './recovery.controller.js';
import { ConsoleCapabilitiesController, SignInController } from './sign-in.controller.js';
import { Google } from './third-party/google.js';
import { OpenIdSubjectsRepository } from './third-party/openid-subjects.repository.js';
import { SignInStateCookie } from './third-party/sign-in-state-cookie.js';
import { ThirdPartyController } from './third-party/third-party.controller.js';
import { ThirdPartySignIn } from './third-party/third-party-sign-in.service.js';

/**
 * Sign-up, sign-in, sign-out, sessions, profiles, passwords and passkeys of people, and their decisions on what clients
 * ask for.
 *
 * Tables: passwords, passkeys, passkey_challenges, recovery_codes, password_resets, openid_subjects, and people in
 * identities; sessions are stored by `accounts`. Routes: `/v1/auth/*`, `/v1/admin/members/{user}/password-reset`,
 * `/v1/console/capabilities`. Codes: auth_required, registration_disabled, not_found, conflict, invalid_request,
 * rate_limited, service_unavailable. Log lines: third_party_sign_in_failed.
 */
@Module({
  imports: [AccessModule, AddressLimitsModule, OrganizationsModule],
  controllers: [
    SignInController,
    OwnSessionsController,
    PasskeysController,
    PasswordResetsController,
    RecoveryController,
    ThirdPartyController,
    ConsoleCapabilitiesController,
  ],
  providers: [
    Approvals,
    BrowserClients,
    BrowserSessions,
    Google,
    OpenIdSubjectsRepository,
    PageSignIn,
    PageSteps,
    PasskeyBindingCookie,
    Passkeys,
    PasskeysRepository,
    PasswordHashing,
    PasswordReplacement,
    PasswordResets,
    Passwords,
    PasswordsRepository,
    People,
    PeopleRepository,
    RecoveryCodes,
    RecoveryRepository,
    RelyingParties,
    SignInStateCookie,
    ThirdPartySignIn,
  ],
  exports: [Approvals, BrowserClients, Google, PageSignIn, PageSteps, People],
})
export class SignInModule {}
