import { AuthEventWriter } from '../../src/auth-events/auth-event-writer.service.js';
import type { World } from './world.js';

/** What attempts on one application leave behind: stored events and logged refusals. Each is answered once. */
export class AuthTrail {
  private eventsSeen = 0;
  private linesSeen = 0;

  constructor(
    private readonly world: World,
    private readonly appId: string,
  ) {}

  /** Events since the last call, oldest first. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads members of an answer whose shape the OpenAPI check has proven
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
}
