import { Module } from '@nestjs/common';
import { AppDirectoryModule } from '../../app-directory/app-directory.module.js';
import { AppKeysModule } from '../../app-keys/app-keys.module.js';
import { ProvidersModule } from '../../providers/providers.module.js';
import { UsersModule } from '../../users/users.module.js';
import { OriginsModule } from '../origins/origins.module.js';
import { CallerGuard } from './caller.guard.js';
import { CallerAuthentication } from './caller-authentication.service.js';
import { GatewayTokens } from './gateway-tokens.js';
import { MeController } from './me.controller.js';
import { MeService } from './me.service.js';

/**
 * Authenticates callers of an application's routes, by gateway token or application key, and reports a user's usage and
 * limits.
 *
 * Tables: none. Routes: `/v1/apps/{app}/me`. Codes: app_not_found, app_disabled, auth_required, invalid_request
 * (end-user header, application version), auth_method_not_supported.
 */
@Module({
  imports: [AppDirectoryModule, AppKeysModule, OriginsModule, ProvidersModule, UsersModule],
  controllers: [MeController],
  providers: [CallerAuthentication, CallerGuard, GatewayTokens, MeService],
  exports: [CallerAuthentication, CallerGuard, GatewayTokens, OriginsModule],
})
export class ClientAuthModule {}
