import { Module } from '@nestjs/common';
import { APP_INTERCEPTOR, DiscoveryModule } from '@nestjs/core';
import { ScheduleModule } from '@nestjs/schedule';
import { AppDirectoryModule } from './app-directory/app-directory.module.js';
import { AppKeysModule } from './app-keys/app-keys.module.js';
import { AppsModule } from './apps/apps.module.js';
import { AttestationModule } from './attestation/attestation.module.js';
import { AuthEventsModule } from './auth-events/auth-events.module.js';
import { CliModule } from './cli/cli.module.js';
import { ClientAuthModule } from './client-auth/client-auth.module.js';
import { ErrorLogInterceptor } from './common/errors/gateway-error-log.js';
import { ServerTimingInterceptor } from './common/http/server-timing.interceptor.js';
import { ConsentModule } from './consent/consent.module.js';
import { ConsoleModule } from './console/console.module.js';
import { ConsoleAuthModule } from './console-auth/console-auth.module.js';
import { EntitlementsModule } from './entitlements/entitlements.module.js';
import { HealthModule } from './health/health.module.js';
import { IdempotencyModule } from './idempotency/idempotency.module.js';
import { IdentityModule } from './identity/identity.module.js';
import { IssuersModule } from './issuers/issuers.module.js';
import { McpModule } from './mcp/mcp.module.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { OrganizationsModule } from './organizations/organizations.module.js';
import { PricingModule } from './pricing/pricing.module.js';
import { ProvidersModule } from './providers/providers.module.js';
import { ProxyModule } from './proxy/proxy.module.js';
import { RateLimitsModule } from './rate-limits/rate-limits.module.js';
import { RepricingModule } from './repricing/repricing.module.js';
import { RequestLimitsModule } from './request-limits/request-limits.module.js';
import { NightlyRetentionModule } from './retention/retention.module.js';
import { TokenExchangeModule } from './token-exchange/token-exchange.module.js';
import { UsageModule } from './usage/usage.module.js';
import { UsageReportsModule } from './usage-reports/usage-reports.module.js';
import { UsersModule } from './users/users.module.js';

/** The modules, in dependency order, and the interceptors of all routes, the outermost first. */
@Module({
  imports: [
    DiscoveryModule,
    ScheduleModule.forRoot(),
    IdentityModule,
    RateLimitsModule,
    RequestLimitsModule,
    OrganizationsModule,
    ConsoleAuthModule,
    PricingModule,
    EntitlementsModule,
    AppDirectoryModule,
    IssuersModule,
    IdempotencyModule,
    ProvidersModule,
    AppKeysModule,
    UsageModule,
    UsageReportsModule,
    RepricingModule,
    UsersModule,
    AppsModule,
    CliModule,
    ConsentModule,
    ConsoleModule,
    AttestationModule,
    AuthEventsModule,
    ClientAuthModule,
    TokenExchangeModule,
    ProxyModule,
    McpModule,
    NightlyRetentionModule,
    HealthModule,
    MetricsModule,
  ],
  providers: [
    { provide: APP_INTERCEPTOR, useClass: ErrorLogInterceptor },
    { provide: APP_INTERCEPTOR, useClass: ServerTimingInterceptor },
  ],
})
export class GatewayModule {}
