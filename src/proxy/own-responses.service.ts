import { Injectable } from '@nestjs/common';
import type { Caller } from '../client-auth/caller.js';
import { invalidRequest } from '../common/errors/gateway-error.js';
import { UsageResponses } from '../usage/usage-responses.service.js';

/** Whose the responses are that providers keep. */
@Injectable()
export class OwnResponses {
  constructor(private readonly responses: UsageResponses) {}

  /**
   * A stored response may be continued by those who created it.
   *
   * @throws invalid_request it was not created by this application and user.
   */
  async require({ app, userId }: Caller, responseId: string): Promise<void> {
    if (await this.responses.createdBy(app.id, userId, responseId)) return;
    throw invalidRequest(
      'previous_response_id',
      'names no response that this application and user created through the gateway',
      'response_not_owned',
    );
  }
}
