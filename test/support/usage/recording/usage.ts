import type { UsageReading } from '../../../../src/upstreams/usage/token-counts.js';
import type {
  Refusal,
  RefusedStatus,
  UsageAdmission,
  UsageOutcome,
} from '../../../../src/usage/recording/usage-event.js';

/** A request of a server application; only what matters to a test is named by it. */
export function anAdmission(overrides: Partial<UsageAdmission> = {}): UsageAdmission {
  return {
    eventId: '0190f0e1d2c3aabbccddeeff00112233',
    organizationId: 'org-1',
    appId: 'notes-abc123',
    userId: null,
    apiKeyId: 'key-1',
    providerType: 'openai',
    providerId: 'provider-1',
    providerSlug: 'openai',
    providerGatewayId: null,
    providerGatewayType: null,
    reportsCost: false,
    credentialSource: 'direct',
    modelAuthor: 'OpenAI',
    model: 'gpt-4.1',
    route: 'openai/v1/responses',
    endpointSlug: null,
    appVersion: null,
    authMethod: 'api_key',
    groups: null,
    createdAtMs: 1_763_600_000_123,
    maxCostNanoUsd: 0,
    sent: { inputTokens: 0, audioSeconds: 0 },
    sentNanoUsd: 0,
    maxOutputTokens: 0,
    ...overrides,
  };
}

/** An answer that reports its token counts. */
export function aReading(overrides: Partial<UsageReading> = {}): UsageReading {
  return {
    inputTokens: 1_000,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 500,
    reasoningTokens: 0,
    audioInputTokens: 0,
    audioCachedInputTokens: 0,
    audioOutputTokens: 0,
    usageSeen: true,
    ...overrides,
  };
}

/** A complete, successful answer without a price or a reading. */
export function anOutcome(overrides: Partial<UsageOutcome> = {}): UsageOutcome {
  return {
    status: 'ok',
    ending: 'whole',
    latencyMs: 120,
    durationMs: 340,
    clientAborted: false,
    contentType: 'application/json',
    ...overrides,
  };
}

/** A refusal with a status, ready to be counted. */
export function aRefusal(status: RefusedStatus = 'blocked_user', overrides: Partial<Refusal> = {}): Refusal {
  return { status, code: 'auth_required', reason: null, message: 'Not now.', untilMs: null, ...overrides };
}
