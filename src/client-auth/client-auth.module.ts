import { Module } from '@nestjs/common';
import { AppDirectoryModule } from '../app-directory/app-directory.module.js';
import { KeysModule } from '../keys/keys.module.js';
import { ProvidersModule } from '../providers/providers.module.js';
import { CallerGuard } from './caller.guard.js';
import { CallerAuthentication } from './caller-authentication.service.js';

/**
 * Proves who calls an application's routes.
 *
 * Tables: none. Routes: none. Codes: app_not_found, app_disabled, auth_required, invalid_request (end-user header).
 */
@Module({
  imports: [AppDirectoryModule, KeysModule, ProvidersModule],
  providers: [CallerAuthentication, CallerGuard],
  exports: [CallerAuthentication, CallerGuard],
})
export class ClientAuthModule {}
