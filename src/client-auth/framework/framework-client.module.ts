import { Module } from '@nestjs/common';
import { AppDirectoryModule } from '../../app-directory/app-directory.module.js';
import { AddressLimitsModule } from '../../platform/address-limits/address-limits.module.js';
import { ProvidersModule } from '../../providers/providers.module.js';
import { AttestationModule } from '../devices/attestation.module.js';
import { TokenExchangeModule } from '../exchange/token-exchange.module.js';
import { OriginsModule } from '../origins/origins.module.js';
import { FrameworkClientController } from './framework-client.controller.js';
import { FrameworkClientService } from './framework-client.service.js';

/**
 * Sign-in of the client that Apple's language-model framework brings for providers of the Messages API: the same
 * challenges, keys and tokens as those of `auth/*`, on the three routes and in the shapes that this client knows. It is
 * given the address of a provider of the application, and finds the routes below it.
 *
 * Source: docs/reference/application-api.md#framework-client.
 *
 * Tables: none. Routes: `/v1/apps/{app}/proxy/{provider}/v1/oauth/app-attest/challenge`, `…/app-attest/register`,
 * `…/token`. Codes: not_found, and those of the token exchange. Log lines: none.
 */
@Module({
  imports: [
    AppDirectoryModule,
    AddressLimitsModule,
    AttestationModule,
    OriginsModule,
    ProvidersModule,
    TokenExchangeModule,
  ],
  controllers: [FrameworkClientController],
  providers: [FrameworkClientService],
})
export class FrameworkClientModule {}
