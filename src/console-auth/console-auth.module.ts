import { Module } from '@nestjs/common';
import { IdentityModule } from '../identity/identity.module.js';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { BrowserClients } from './browser-client.js';
import { BrowserSessions } from './browser-sessions.service.js';
import { ConsoleAuthController } from './console-auth.controller.js';
import { ConsoleCapabilitiesController } from './console-capabilities.controller.js';
import { PasswordChange } from './passwords/password-change.service.js';
import { PasswordHashing } from './passwords/password-hashing.service.js';
import { PasswordSignIn } from './passwords/password-sign-in.service.js';
import { PasswordSignUp } from './passwords/password-sign-up.service.js';
import { PasswordsRepository } from './passwords/passwords.repository.js';
import { Passwords } from './passwords/passwords.service.js';
import { FirstOrganizations } from './people/first-organizations.js';
import { PeopleRepository } from './people/people.repository.js';
import { ProfileController } from './people/profile.controller.js';
import { Profile } from './people/profile.service.js';
import { Registration } from './people/registration.service.js';
import { RegistrationPolicy } from './people/registration-policy.service.js';
import { Google } from './third-party/google.js';
import { OpenIdSubjectsRepository } from './third-party/openid-subjects.repository.js';
import { SignInStateCookie } from './third-party/sign-in-state-cookie.js';
import { ThirdPartyController } from './third-party/third-party.controller.js';
import { ThirdPartyPeople } from './third-party/third-party-people.service.js';
import { ThirdPartySignIn } from './third-party/third-party-sign-in.service.js';

/**
 * Registration, sign-in, sign-out, profiles and passwords of people.
 *
 * Tables: passwords, openid_subjects, and people in identities; sessions are stored by `identity`. Routes:
 * `/v1/auth/*`, `/v1/console/capabilities`. Codes: auth_required, registration_disabled, conflict, invalid_request,
 * rate_limited, service_unavailable. Log lines: third_party_sign_in_failed.
 */
@Module({
  imports: [IdentityModule, RateLimitsModule, OrganizationsModule],
  controllers: [ConsoleAuthController, ProfileController, ThirdPartyController, ConsoleCapabilitiesController],
  providers: [
    BrowserClients,
    BrowserSessions,
    FirstOrganizations,
    Google,
    OpenIdSubjectsRepository,
    PasswordChange,
    PasswordHashing,
    PasswordSignIn,
    PasswordSignUp,
    Passwords,
    PasswordsRepository,
    PeopleRepository,
    Profile,
    Registration,
    RegistrationPolicy,
    SignInStateCookie,
    ThirdPartyPeople,
    ThirdPartySignIn,
  ],
})
export class ConsoleAuthModule {}
