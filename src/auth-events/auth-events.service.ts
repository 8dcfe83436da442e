import { Injectable } from '@nestjs/common';
import { Ids } from '../common/ids.js';
import type { AuthEventDraft } from './auth-event.js';
import { authEventText } from './auth-event-text.rules.js';
import { AuthEventLosses, AuthEventWriter } from './auth-event-writer.service.js';

/** Records attempts to register a device or to exchange a token. */
@Injectable()
export class AuthEvents {
  constructor(
    private readonly writer: AuthEventWriter,
    private readonly losses: AuthEventLosses,
    private readonly ids: Ids,
  ) {}

  /** Queues a finished attempt, which is stored in the background. Never throws and never waits. */
  record(draft: AuthEventDraft): void {
    try {
      this.writer.add(authEventText(this.ids.uuid(), draft));
    } catch (error) {
      this.losses.add(1, error);
    }
  }
}
