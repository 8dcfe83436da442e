import { Module } from '@nestjs/common';
import { AppDirectoryModule } from '../../app-directory/app-directory.module.js';
import { AppKeysModule } from '../../app-keys/app-keys.module.js';
import { AddressLimitsModule } from '../../platform/address-limits/address-limits.module.js';
import { UsersModule } from '../../users/users.module.js';
import { ClientAuthModule } from '../callers/client-auth.module.js';
import { AttestationModule } from '../devices/attestation.module.js';
import { AuthEventsModule } from '../events/auth-events.module.js';
import { IssuersModule } from '../issuers/issuers.module.js';
import { ApiKeyExchangeService } from './api-key-exchange.service.js';
import { AppAuthController } from './app-auth.controller.js';
import { AuthAttempts } from './auth-attempts.js';
import { DeviceExchangeService } from './device-exchange.service.js';
import {
  DeviceChallengeService,
  DeviceRegistrationService,
  RegistrationProofs,
} from './device-registration.service.js';
import { ExchangeProofs } from './exchange-proofs.js';
import { SignedInUser } from './signed-in-user.service.js';
import { TokenExchangeService } from './token-exchange.service.js';
import { UnprovenDevices } from './unproven-devices.service.js';

/**
 * Exchange of credentials for gateway tokens. A device takes a challenge and registers its key, once per install. It
 * then takes a challenge and exchanges an assertion or a signature for a token, once an hour. A backend exchanges an
 * API key.
 *
 * On any number of instances a proof counts once: one statement consumes the challenge and raises the key's counter. A
 * block is read from the database at every exchange. A failure of the gateway is never `attest_failed`, because clients
 * discard their key on that code.
 *
 * Source: docs/reference/application-api.md#device-attestation, docs/reference/application-api.md#token-exchange.
 *
 * Tables: none. Routes: `/v1/apps/{app}/auth/challenge`, `…/register`, `…/token`. Codes: auth_method_not_supported,
 * auth_required (403), and the codes of the modules that verify the proofs. Log lines: claim_window_write_failed,
 * claim_propagation_recovered.
 */
@Module({
  imports: [
    AppDirectoryModule,
    AttestationModule,
    AuthEventsModule,
    ClientAuthModule,
    IssuersModule,
    AppKeysModule,
    AddressLimitsModule,
    UsersModule,
  ],
  controllers: [AppAuthController],
  providers: [
    ApiKeyExchangeService,
    AuthAttempts,
    DeviceChallengeService,
    DeviceExchangeService,
    DeviceRegistrationService,
    ExchangeProofs,
    RegistrationProofs,
    SignedInUser,
    TokenExchangeService,
    UnprovenDevices,
  ],
  exports: [AuthAttempts, DeviceRegistrationService, TokenExchangeService],
})
export class TokenExchangeModule {}
