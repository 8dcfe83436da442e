/** What a log line says of an event. */
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
 * Reads an event's JSON text for a log line; what is not there is empty.
 *
 * @throws SyntaxError for text that is no JSON, which no event is.
 */
export function parseEventFields(json: string): EventFields {
  const event: unknown = JSON.parse(json);
  const members = new Map<string, unknown>(typeof event === 'object' && event !== null ? Object.entries(event) : []);
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

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
