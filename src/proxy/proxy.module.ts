import { Module } from '@nestjs/common';
import { AppDirectoryModule } from '../app-directory/app-directory.module.js';
import { BudgetsModule } from '../budgets/budgets.module.js';
import { ClientAuthModule } from '../client-auth/callers/client-auth.module.js';
import { EntitlementsModule } from '../limits/plans/entitlements.module.js';
import { RequestLimitsModule } from '../limits/requests/request-limits.module.js';
import { Environment } from '../platform/config/environment.js';
import { UsageJournal } from '../platform/journal/usage-journal.js';
import { TracesModule } from '../platform/traces/traces.module.js';
import { PricingModule } from '../pricing/pricing.module.js';
import { ProvidersModule } from '../providers/providers.module.js';
import { UsageModule } from '../usage/recording/usage.module.js';
import { UsersModule } from '../users/users.module.js';
import { CallAdmission } from './admission/call-admission.js';
import { UpstreamConnections } from './connections/upstream-connections.js';
import { EndpointCalls } from './endpoints/endpoint-calls.service.js';
import { EndpointPlans } from './endpoints/endpoint-plan.js';
import { EndpointRequests } from './endpoints/endpoint-request.js';
import { EndpointsController } from './endpoints/endpoints.controller.js';
import { Forwarding } from './forwarding.service.js';
import { DeploymentIdRepository } from './loop/deployment-id.repository.js';
import { LoopMark } from './loop/loop-mark.service.js';
import { ModelLists } from './models/model-lists.service.js';
import { ModelsController } from './models/models.controller.js';
import { OutgoingCalls } from './outgoing-calls.service.js';
import { OwnObjects } from './own-objects.service.js';
import { ProxiedCalls } from './proxied-calls.service.js';
import { ProxyController } from './proxy.controller.js';
import { ProxyEntry } from './proxy-entry.js';
import { ProxyPlans } from './proxy-plans.js';
import { ProxyPolicy } from './proxy-policy.js';
import { CallTelemetry } from './relay/call-telemetry.js';
import { AbandonedAnswers, OpenAnswers } from './relay/open-answers.js';
import { RelayContext } from './relay/relay-context.js';
import { SendBatch } from './relay/send-batch.js';
import { InstanceStreamsController } from './streams/instance-streams.controller.js';
import { InstanceStreams } from './streams/instance-streams.service.js';
import { KeptAnswers } from './streams/kept-answers.service.js';
import { Repeats } from './streams/repeats.service.js';
import { ResponseStreams } from './streams/response-streams.service.js';
import { StreamClaimsRepository } from './streams/stream-claims.repository.js';
import { StreamIds } from './streams/stream-ids.service.js';
import { StreamMirrors } from './streams/stream-mirrors.js';
import { StreamPublisher } from './streams/stream-publisher.js';
import { StreamReaders } from './streams/stream-readers.js';
import { StreamStops } from './streams/stream-stops.js';
import { StreamStore } from './streams/stream-store.js';
import { StreamsController } from './streams/streams.controller.js';
import { Streams } from './streams/streams.service.js';
import { TurnBatch } from './turn-batch.js';

/**
 * Calls to providers in their own formats, through the proxy or a named endpoint: plan, policy, admission, relay,
 * record.
 *
 * Tables: stream_claims; reads deployment. Routes: `/v1/apps/{app}/proxy/{provider}/{path…}`,
 * `/v1/apps/{app}/endpoints/{slug}`, `/v1/apps/{app}/models`, `/v1/apps/{app}/streams/{stream}`,
 * `/v1/instances/{instance}/streams/{stream}`. Codes: path_not_allowed, endpoint_not_found, provider_*,
 * api_style_not_supported, payload_too_large, stream_not_found, stream_expired, idempotency_*, model_not_allowed,
 * pricing_not_configured, max_output_tokens_exceeded, auth_required (403, a blocked user), billing_payment_required,
 * billing_request_quota_exceeded, app_budget_exhausted, app_rate_limited. Log lines: provider_ttfb_timeout,
 * provider_ttfb_budget_exhausted, endpoint_fallback, endpoint_fallback_skipped, provider_stream_failed,
 * streams_evicted, stream_claims_write_failed, stream_owner_unreachable.
 */
@Module({
  imports: [
    AppDirectoryModule,
    EntitlementsModule,
    BudgetsModule,
    ClientAuthModule,
    RequestLimitsModule,
    PricingModule,
    ProvidersModule,
    TracesModule,
    UsageModule,
    UsersModule,
  ],
  controllers: [ProxyController, EndpointsController, ModelsController, StreamsController, InstanceStreamsController],
  providers: [
    ProxyPlans,
    ProxyPolicy,
    ProxiedCalls,
    OwnObjects,
    CallAdmission,
    OutgoingCalls,
    Forwarding,
    EndpointPlans,
    EndpointRequests,
    EndpointCalls,
    ModelLists,
    ProxyEntry,
    DeploymentIdRepository,
    LoopMark,
    TurnBatch,
    UpstreamConnections,
    AbandonedAnswers,
    OpenAnswers,
    {
      provide: SendBatch,
      inject: [Environment, UsageJournal],
      useFactory: ({ JOURNAL_SYNC }: Environment, journal: UsageJournal) =>
        new SendBatch(JOURNAL_SYNC === 'always' ? () => journal.synced() : undefined),
    },
    CallTelemetry,
    StreamIds,
    StreamStore,
    KeptAnswers,
    StreamPublisher,
    ResponseStreams,
    InstanceStreams,
    StreamMirrors,
    StreamStops,
    StreamReaders,
    Streams,
    StreamClaimsRepository,
    Repeats,
    RelayContext,
  ],
})
export class ProxyModule {}
