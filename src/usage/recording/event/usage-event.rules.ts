import { isNamedByEvent } from '../../../budgets/budget-columns.js';
import type { CallBudget } from '../../../budgets/budget-hold.js';
import { budgetPeriodOf } from '../../../budgets/budget-period.rules.js';
import { NO_TOKENS, type TokenCounts, type UsageReading } from '../../../upstreams/usage/token-counts.js';
import type {
  CredentialSource,
  Refusal,
  RefusedCall,
  UsageAdmission,
  UsageAttempt,
  UsageOutcome,
} from '../usage-event.js';
import { type CallCharge, chargedNanoUsd, chargedTokens } from './usage-estimate.rules.js';
import { countMember, storableText, textMember, wholeNumber } from './usage-line.rules.js';

/** Maximum length of text that a provider or a client chooses, in UTF-16 units. */
const OUTSIDE_TEXT_MAX = 200;
/** The same limit as in the response reader. */
const RESPONSE_ID_MAX = 256;
const ROUTE_MAX = 2_000;
/** Maximum length of the message to a refused client. */
const REFUSAL_MAX = 400;
const LATENCY_MAX_MS = 2 ** 31 - 1;

/** A request with an admission record in the journal. */
export interface AdmittedEvent {
  readonly admission: UsageAdmission;
  /** From {@link ownMembers} and {@link limitsMember}; both journal records of the request contain it. */
  readonly own: string;
  /** Whether a limit of tokens counts the request. */
  readonly countsTokens: boolean;
}

/**
 * The members of an event that are final at admission and differ between calls, as JSON text without braces. Rendered
 * once, because both journal records of a request contain it. An absent member means null, or zero for counts.
 */
export function ownMembers(admission: RefusedCall): string {
  return (
    `"event_id":"${admission.eventId}","created_at_ms":${wholeNumber(admission.createdAtMs)}` +
    textMember('user_id', admission.userId) +
    textMember('app_version', admission.appVersion, OUTSIDE_TEXT_MAX) +
    (admission.groups === null ? '' : `,"groups":${JSON.stringify(admission.groups)}`)
  );
}

/**
 * The budgets that an event is charged to in addition to those of its application and user; with a leading comma, empty
 * when there are none.
 *
 * @param createdAtMs determines the periods.
 */
export function limitsMember(budgets: readonly CallBudget[], createdAtMs: number): string {
  const named = budgets.filter(({ scope, window }) => isNamedByEvent(scope, window));
  if (named.length === 0) return '';
  const limits = named.map(({ scope, subject, window }) => ({
    ...{ scope, subject, window_name: window, period_start: budgetPeriodOf(window, createdAtMs).start },
  }));
  return `,"limits":${JSON.stringify(limits)}`;
}

/** The admission members that are equal for all calls of one key to one model on one path; each begins with a comma. */
export function fixedMembers(admission: RefusedCall): string {
  return (
    textMember('organization_id', admission.organizationId) +
    textMember('app_id', admission.appId) +
    textMember('api_key_id', admission.apiKeyId) +
    textMember('provider_type', admission.providerType) +
    textMember('provider_id', admission.providerId) +
    textMember('provider_slug', admission.providerSlug) +
    textMember('provider_gateway_id', admission.providerGatewayId) +
    textMember('provider_gateway_type', admission.providerGatewayType) +
    textMember('model_author', admission.modelAuthor, OUTSIDE_TEXT_MAX) +
    textMember('model', admission.model, OUTSIDE_TEXT_MAX) +
    textMember('route', admission.route, ROUTE_MAX) +
    textMember('endpoint_slug', admission.endpointSlug) +
    textMember('auth_method', admission.authMethod)
  );
}

/** Whether both have the same members that {@link fixedMembers} reads. */
export function areOfOneKind(one: UsageAdmission, other: UsageAdmission): boolean {
  return (
    one.appId === other.appId &&
    one.model === other.model &&
    one.route === other.route &&
    one.apiKeyId === other.apiKeyId &&
    one.authMethod === other.authMethod &&
    one.endpointSlug === other.endpointSlug &&
    one.modelAuthor === other.modelAuthor &&
    one.providerId === other.providerId &&
    one.providerSlug === other.providerSlug &&
    one.providerType === other.providerType &&
    one.providerGatewayId === other.providerGatewayId &&
    one.providerGatewayType === other.providerGatewayType &&
    one.organizationId === other.organizationId
  );
}

/**
 * The start of the event of a request that was open when its process was killed, as JSON text; `EventKind.tail`
 * completes it. It is not a provider error and not free.
 *
 * @param chargedNanoUsd from {@link interruptedCharge}.
 * Source: docs/reference/accounting.md#exactly-once, ADR 0007.
 */
export function interruptedHead({ own, admission, countsTokens }: AdmittedEvent, chargedNanoUsd: number): string {
  const credentialSource = textMember('credential_source', credentialSourceOf(admission, undefined));
  const charge = countMember('charged_nano_usd', chargedNanoUsd);
  const tokens = countsTokens ? countMember('charged_tokens', admission.sent.inputTokens) : '';
  return `{${own}${credentialSource},"status":"ok","cost_source":"unresolved"${charge}${tokens}`;
}

/**
 * The budget charge of an interrupted request: what was sent to this target and to earlier ones.
 *
 * @param unansweredNanoUsd the charge for targets that were called before.
 */
export function interruptedCharge({ sentNanoUsd }: UsageAdmission, unansweredNanoUsd: number): number {
  return wholeNumber(sentNanoUsd + unansweredNanoUsd);
}

/** The start of the event of a finished request, likewise. */
export function settledHead(event: AdmittedEvent, outcome: UsageOutcome, charge: CallCharge): string {
  const { own, admission, countsTokens } = event;
  const { reading, latencyMs, durationMs, attempts } = outcome;
  const { cost, estimateNanoUsd } = charge;
  return (
    `{${own},"status":"${outcome.status}","cost_source":"${cost.source}"` +
    textMember('credential_source', credentialSourceOf(admission, reading)) +
    measureMembers(reading) +
    countMember('cost_nano_usd', cost.nanoUsd) +
    (estimateNanoUsd === 0 ? '' : `,"charged_nano_usd":${chargedNanoUsd(charge)}`) +
    (cost.source === 'reported' ? `,"reported_cost_nano_usd":${cost.nanoUsd}` : '') +
    (countsTokens ? countMember('charged_tokens', chargedTokens(admission, outcome)) : '') +
    (outcome.clientAborted ? ',"client_aborted":true' : '') +
    timeMember('latency_ms', latencyMs) +
    timeMember('duration_ms', durationMs) +
    (attempts === undefined ? '' : `,"attempts":${attemptsJson(attempts)}`) +
    textMember('served_model', reading?.servedModel, OUTSIDE_TEXT_MAX) +
    textMember('served_provider', reading?.servedProvider, OUTSIDE_TEXT_MAX) +
    textMember('response_id', reading?.responseId, RESPONSE_ID_MAX)
  );
}

/**
 * The fixed members of a refusal row, as JSON text without braces: no tokens, no cost and no cost source.
 *
 * Source: docs/reference/accounting.md#counted-refusals, docs/reference/accounting.md#usage-event.
 */
export function refusalMembers(call: RefusedCall, refusal: Refusal): string {
  const { status, code, reason, message, group, untilMs } = refusal;
  const credentialSource = textMember('credential_source', credentialSourceOf(call, undefined));
  const told =
    `{"code":"${code}"` +
    textMember('reason', reason) +
    textMember('message', message, REFUSAL_MAX) +
    textMember('group', group) +
    `${untilMs === null ? '' : countMember('until_ms', untilMs)}}`;
  return `${ownMembers(call)}${fixedMembers(call)}${credentialSource},"status":"${status}","refusal":${told}`;
}

/** @param ms null: not known. */
function timeMember(name: string, ms: number | null): string {
  return ms === null ? '' : `,"${name}":${Math.min(wholeNumber(ms), LATENCY_MAX_MS)}`;
}

function measureMembers(reading: UsageReading | undefined): string {
  const tokens = reading ?? NO_TOKENS;
  return (
    countMember('input_tokens', tokens.inputTokens) +
    countMember('cached_input_tokens', tokens.cachedInputTokens) +
    countMember('cache_write_tokens', tokens.cacheWriteTokens) +
    countMember('output_tokens', tokens.outputTokens) +
    countMember('reasoning_tokens', tokens.reasoningTokens) +
    countMember('audio_input_tokens', tokens.audioInputTokens) +
    countMember('audio_output_tokens', tokens.audioOutputTokens) +
    countMember('audio_milliseconds', (reading?.audioSeconds ?? 0) * 1000) +
    partsMember(tokens)
  );
}

/** The token parts that have rates of their own, so that repricing computes from the same input as the first cost. */
function partsMember({ parts, audioCachedInputTokens }: TokenCounts): string {
  if (parts === undefined && audioCachedInputTokens === 0) return '';
  const stored = audioCachedInputTokens === 0 ? parts : { ...parts, cached_audio_input: audioCachedInputTokens };
  return `,"usage_parts":${JSON.stringify(stored)}`;
}

/**
 * The credential source. OpenRouter selects the key itself, so only its response determines the source.
 *
 * Source: docs/reference/accounting.md#usage-event.
 */
function credentialSourceOf(admission: RefusedCall, reading: UsageReading | undefined): CredentialSource | null {
  if (admission.providerType === 'openrouter') return reading?.credentialSource ?? null;
  return reading?.credentialSource ?? admission.credentialSource;
}

function attemptsJson(attempts: readonly UsageAttempt[]): string {
  return JSON.stringify(
    attempts.map(({ providerSlug, model, status, latencyMs, error }) => ({
      provider_slug: providerSlug,
      model: storableText(model, OUTSIDE_TEXT_MAX),
      status,
      latency_ms: wholeNumber(latencyMs),
      error: error === null ? null : storableText(error, OUTSIDE_TEXT_MAX),
    })),
  );
}
