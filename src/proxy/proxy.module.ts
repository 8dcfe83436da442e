import { Module } from '@nestjs/common';
import { ClientAuthModule } from '../client-auth/client-auth.module.js';
import { PricingModule } from '../pricing/pricing.module.js';
import { ProvidersModule } from '../providers/providers.module.js';
import { UsageModule } from '../usage/usage.module.js';
import { UsersModule } from '../users/users.module.js';
import { CallAdmission } from './admission.js';
import { Forwarding } from './forwarding.service.js';
import { ProxyPlans } from './plan.js';
import { ProxyPolicy } from './policy.js';
import { ProxyController } from './proxy.controller.js';
import { ProxyDoor } from './proxy-door.js';
import { AbandonedAnswers } from './relay/abandoned-answers.js';
import { AnswerBatch } from './relay/answer-batch.js';
import { RelayParts } from './relay/relay-parts.js';
import { UpstreamConnections } from './relay/upstream-connections.js';

/**
 * Calls to providers in the providers' own formats: plan, policy, admission, relay, record.
 *
 * Tables: none. Routes: `/v1/apps/{app}/proxy/{provider}/{path…}`. Codes: path_not_allowed, provider_*,
 * api_style_not_supported, payload_too_large, model_not_allowed, pricing_not_configured, max_output_tokens_exceeded,
 * auth_required (403, a blocked user).
 * Log lines: provider_ttfb_timeout, provider_stream_failed.
 */
@Module({
  imports: [ClientAuthModule, ProvidersModule, PricingModule, UsageModule, UsersModule],
  controllers: [ProxyController],
  providers: [
    ProxyPlans,
    ProxyPolicy,
    CallAdmission,
    Forwarding,
    ProxyDoor,
    UpstreamConnections,
    AbandonedAnswers,
    AnswerBatch,
    RelayParts,
  ],
})
export class ProxyModule {}
