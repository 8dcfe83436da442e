import { Injectable } from '@nestjs/common';
import { Ids } from '../../common/ids.js';
import { storableText, wholeNumber } from '../../usage/recording/event/usage-line.rules.js';
import type { AuthEventDraft } from './auth-event.js';
import { AuthEventLosses, AuthEventWriter } from './auth-event-writer.service.js';

/** Records attempts to register a device or to exchange a token. */
@Injectable()
export class AuthEvents {
  constructor(
    private readonly writer: AuthEventWriter,
    private readonly losses: AuthEventLosses,
    private readonly ids: Ids,
  ) {}

  /** Adds a finished attempt, which is stored in the background. Never throws and never waits. */
  record(draft: AuthEventDraft): void {
    try {
      this.writer.add(authEventText(this.ids.uuid(), draft));
    } catch (error) {
      this.losses.add(1, error);
    }
  }
}

/** Source: docs/reference/application-api.md#authentication-events. */
const APP_VERSION_MAX = 64;
/** In characters; as long as any valid user id. */
const USER_ID_MAX = 1_024;
/** Error codes and reasons are far shorter. */
const WORD_MAX = 200;
const LATENCY_MAX_MS = 2 ** 31 - 1;

/**
 * An attempt as JSON text that Postgres accepts for any input: texts truncated, without NUL and well-formed, numbers
 * whole and not negative.
 *
 * @param eventId a UUID; makes repeated inserts idempotent.
 */
export function authEventText(eventId: string, draft: AuthEventDraft): string {
  const { claimDelayMs } = draft;
  return JSON.stringify({
    event_id: eventId,
    organization_id: draft.organizationId,
    app_id: draft.appId,
    user_id: storable(draft.userId, USER_ID_MAX),
    event: draft.event,
    auth_method: draft.authMethod,
    outcome: storable(draft.outcome, WORD_MAX),
    reason: storable(draft.reason, WORD_MAX),
    app_version: storable(draft.appVersion, APP_VERSION_MAX),
    latency_ms: Math.min(wholeNumber(draft.latencyMs), LATENCY_MAX_MS),
    claim_delay_ms: claimDelayMs === null ? null : wholeNumber(claimDelayMs),
    proof: draft.proof,
    facts: draft.facts,
    created_at: draft.createdAt.toISOString(),
  });
}

function storable(value: string | null, maxLength: number): string | null {
  return value === null ? null : storableText(value, maxLength);
}
