import type { RunningGateway } from '../../../../src/bootstrap/start.js';
import type { AuthEventDraft } from '../../../../src/client-auth/events/auth-event.js';
import { AuthEventWriter } from '../../../../src/client-auth/events/auth-event-writer.service.js';
import { AuthEvents } from '../../../../src/client-auth/events/auth-events.service.js';

/** A successful token exchange without a user. */
export function anAuthEvent(
  overrides: Partial<AuthEventDraft> & Pick<AuthEventDraft, 'organizationId' | 'appId'>,
): AuthEventDraft {
  return {
    userId: null,
    event: 'token_exchange',
    authMethod: 'attest',
    outcome: 'ok',
    reason: null,
    appVersion: null,
    latencyMs: 5,
    claimDelayMs: null,
    proof: null,
    facts: null,
    createdAt: new Date(),
    ...overrides,
  };
}

/** Records attempts and waits until they are stored. */
export async function recordAuthEvents({ app }: RunningGateway, drafts: readonly AuthEventDraft[]): Promise<void> {
  for (const draft of drafts) app.get(AuthEvents).record(draft);
  await app.get(AuthEventWriter).flush();
}
