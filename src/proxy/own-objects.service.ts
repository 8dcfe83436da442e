import { Injectable } from '@nestjs/common';
import type { Caller } from '../client-auth/callers/caller.js';
import { invalidRequest } from '../common/errors/gateway-error.js';
import { KeptObjects } from '../usage/recording/kept-objects.service.js';
import { IN_PATH, type KeptReference } from './body/kept-objects.rules.js';

/** Checks the ownership of objects stored at providers. */
@Injectable()
export class OwnObjects {
  constructor(private readonly objects: KeptObjects) {}

  /**
   * Requires that the objects were made for the caller.
   *
   * @throws invalid_request naming the first member whose object was not made for this application and user.
   */
  async require({ app, userId }: Caller, references: readonly KeptReference[]): Promise<void> {
    if (references.length === 0) return;
    const foreign = await this.objects.findForeign(
      app.id,
      userId,
      references.map(({ id }) => id),
    );
    const reference = references.find(({ id }) => id === foreign);
    if (reference === undefined) return;
    throw invalidRequest(
      reference.path,
      `names nothing that this application and user got from the provider through the gateway${reference.path === IN_PATH ? '' : '; send the content instead'}`,
      'kept_object_not_owned',
    );
  }
}
