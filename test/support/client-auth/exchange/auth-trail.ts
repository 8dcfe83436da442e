import { expect } from '@jest/globals';
import { AuthEventWriter } from '../../../../src/client-auth/events/auth-event-writer.service.js';
import type { ApiAnswer } from '../../api-client.js';
import type { World } from '../../world.js';

/** How an attempt was refused: the message to the client, and the one to the operator. */
interface Refusal {
  readonly status: number;
  readonly code: string;
  /** None by default. */
  readonly reason?: string;
  readonly event: 'register' | 'token_exchange';
  /** Nobody by default. */
  readonly userId?: string;
  /** `attest` by default. */
  readonly method?: 'attest' | 'api_key' | 'key_attestation' | 'play_integrity' | null;
}

/** The traces of attempts on one application: stored events and logged refusals. Each is seen once. */
export class AuthTrail {
  private eventsSeen = 0;
  private linesSeen = 0;

  constructor(
    private readonly world: World,
    private readonly appId: string,
  ) {}

  /** Events since the last call, oldest first. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads members of an answer that the OpenAPI check proves
  async events(): Promise<any[]> {
    await this.world.gateway.app.get(AuthEventWriter, { strict: false }).flush();
    const { body } = await this.world.api.get(`/v1/admin/apps/${this.appId}/auth-events?limit=200`);
    const fresh = body.events.reverse().slice(this.eventsSeen);
    this.eventsSeen += fresh.length;
    return fresh;
  }

  /** `gateway_error` lines since the last call. */
  lines(): Record<string, unknown>[] {
    const lines = this.world.logs.filter(({ message, app }) => message === 'gateway_error' && app === this.appId);
    const fresh = lines.slice(this.linesSeen);
    this.linesSeen += fresh.length;
    return fresh;
  }

  /** Starts again: discards earlier events and lines. */
  async skip(): Promise<void> {
    await this.events();
    this.lines();
  }

  /** The answer is this refusal, with exactly one event and one line; it does not say why. */
  async isRefused(answer: ApiAnswer, refusal: Refusal): Promise<void> {
    const { status, code, reason, event, userId = null, method = 'attest' } = refusal;
    expect([answer.status, answer.body.error?.code]).toEqual([status, code]);
    if (reason !== undefined) expect(answer.text.replace(code, '')).not.toContain(reason);
    expect(await this.events()).toMatchObject([
      { event, outcome: code, reason: reason ?? null, user_id: userId, auth_method: method, claim_delay_ms: null },
    ]);
    expect(this.lines()).toEqual([expect.objectContaining({ code, status, ...(reason && { reason }) })]);
  }

  /** The answer is this refusal, with one line and no event. */
  async isNoEvent(answer: ApiAnswer, status: number, code: string): Promise<void> {
    expect([answer.status, answer.body.error?.code]).toEqual([status, code]);
    expect([await this.events(), this.lines()]).toEqual([[], [expect.objectContaining({ code, status })]]);
  }

  /** The answer is a success, with one event and no line. */
  async isServed(answer: ApiAnswer, expected: Pick<Refusal, 'event' | 'userId' | 'method'>): Promise<void> {
    const { event, userId, method = 'attest' } = expected;
    expect([answer.status, answer.body.error]).toEqual([200, undefined]);
    expect(await this.events()).toMatchObject([
      { event, outcome: 'ok', reason: null, user_id: userId, auth_method: method },
    ]);
    expect(this.lines()).toEqual([]);
  }
}
