import { Injectable } from '@nestjs/common';
import type { Caller } from '../client-auth/caller.js';
import { invalidRequest } from '../common/errors/gateway-error.js';
import { UsageResponses } from '../usage/usage-responses.service.js';

/** Checks the ownership of responses stored at providers. */
@Injectable()
export class OwnResponses {
  constructor(private readonly responses: UsageResponses) {}

  /**
   * Requires that the caller created a stored response.
   *
   * @throws invalid_request this application and user did not create it.
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
