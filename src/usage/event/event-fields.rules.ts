import { instantOf } from '../../common/clock.js';

/** Largest absolute time value of a `Date`, in milliseconds. */
const LATEST_INSTANT_MS = 8_640_000_000_000_000;

/** Fields of an event that log lines contain. */
export interface EventFields {
  readonly eventId: string;
  readonly appId: string;
  readonly userId: string | null;
  readonly provider: string;
  readonly providerSlug: string;
  readonly model: string;
  readonly route: string;
}

/**
 * Parses the log fields of an event's JSON text; a missing text is empty, a missing user is null.
 *
 * @throws SyntaxError when the text is not JSON.
 */
export function parseEventFields(json: string): EventFields {
  const members = membersOf(json);
  const text = (name: string) => textOrNull(members.get(name)) ?? '';
  return {
    eventId: text('event_id'),
    appId: text('app_id'),
    userId: textOrNull(members.get('user_id')),
    provider: text('provider_type'),
    providerSlug: text('provider_slug'),
    model: text('model'),
    route: text('route'),
  };
}

/**
 * The UTC day of an event's JSON text, `YYYY-MM-DD`; undefined when it has no valid `created_at_ms`.
 *
 * @throws SyntaxError when the text is not JSON.
 */
export function eventDayOf(json: string): string | undefined {
  const createdAtMs = membersOf(json).get('created_at_ms');
  if (typeof createdAtMs !== 'number' || Math.abs(createdAtMs) > LATEST_INSTANT_MS) return undefined;
  return instantOf(createdAtMs).toISOString().slice(0, 'YYYY-MM-DD'.length);
}

function membersOf(json: string): Map<string, unknown> {
  const event: unknown = JSON.parse(json);
  return new Map<string, unknown>(typeof event === 'object' && event !== null ? Object.entries(event) : []);
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
