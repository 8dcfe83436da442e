import { Module } from '@nestjs/common';
import { APP_INTERCEPTOR, DiscoveryModule } from '@nestjs/core';
import { ScheduleModule } from '@nestjs/schedule';
import { AccessModule } from './accounts/access/access.module.js';
import { OrganizationsModule } from './accounts/organizations/organizations.module.js';
import { AppDirectoryModule } from './app-directory/app-directory.module.js';
import { AppKeysModule } from './app-keys/app-keys.module.js';
import { AppsModule } from './apps/apps.module.js';
import { AttentionModule } from './attention/attention.module.js';
import { CliModule } from './cli/cli.module.js';
import { ClientAuthModule } from './client-auth/callers/client-auth.module.js';
import { AttestationModule } from './client-auth/devices/attestation.module.js';
import { AuthEventsModule } from './client-auth/events/auth-events.module.js';
import { TokenExchangeModule } from './client-auth/exchange/token-exchange.module.js';
import { FrameworkClientModule } from './client-auth/framework/framework-client.module.js';
import { IssuersModule } from './client-auth/issuers/issuers.module.js';
import { PreviewModule } from './client-auth/preview/preview.module.js';
import { ErrorLogInterceptor } from './common/errors/gateway-error-log.js';
import { ServerTimingInterceptor } from './common/http/server-timing.interceptor.js';
import { ConsentModule } from './consent/consent.module.js';
import { ConsoleModule } from './console/console.module.js';
import { HealthModule } from './health/health.module.js';
import { MetricsModule } from './health/metrics/metrics.module.js';
import { IdempotencyModule } from './idempotency/idempotency.module.js';
import { EntitlementsModule } from './limits/plans/entitlements.module.js';
import { RequestLimitsModule } from './limits/requests/request-limits.module.js';
import { MailModule } from './mail/mail.module.js';
import { McpModule } from './mcp/mcp.module.js';
import { AddressLimitsModule } from './platform/address-limits/address-limits.module.js';
import { PricingModule } from './pricing/pricing.module.js';
import { ProvidersModule } from './providers/providers.module.js';
import { ProxyModule } from './proxy/proxy.module.js';
import { RepricingModule } from './repricing/repricing.module.js';
import { NightlyRetentionModule } from './retention/retention.module.js';
import { SignInModule } from './sign-in/sign-in.module.js';
import { UsageExportsModule } from './usage/exports/usage-exports.module.js';
import { UsageModule } from './usage/recording/usage.module.js';
import { UsageReportsModule } from './usage/reports/usage-reports.module.js';
import { UsersModule } from './users/users.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

/** The modules, in dependency order, and the interceptors of all routes, the outermost first. */
@Module({
  imports: [
    DiscoveryModule,
    ScheduleModule.forRoot(),
    AccessModule,
    AddressLimitsModule,
    RequestLimitsModule,
    OrganizationsModule,
    SignInModule,
    PricingModule,
    EntitlementsModule,
    AppDirectoryModule,
    IssuersModule,
    IdempotencyModule,
    ProvidersModule,
    AppKeysModule,
    UsageModule,
    UsageReportsModule,
    UsageExportsModule,
    RepricingModule,
    UsersModule,
    MailModule,
    WebhooksModule,
    AttentionModule,
    AppsModule,
    CliModule,
    ConsentModule,
    ConsoleModule,
    AttestationModule,
    AuthEventsModule,
    ClientAuthModule,
    PreviewModule,
    TokenExchangeModule,
    FrameworkClientModule,
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
