import { Inject, Injectable } from '@nestjs/common';
import { Ids } from '../common/ids.js';
import { AppUsageTotals } from '../usage-reports/app-usage-totals.service.js';
import { appIdFrom } from './app-id.rules.js';

/** Source: docs/reference/management-api.md#application-objects-and-ids. */
const SUFFIX_LENGTH = 6;

/** Draws ids for new applications. */
@Injectable()
export class NewAppIds {
  constructor(
    private readonly ids: Ids,
    @Inject(AppUsageTotals) private readonly usage: Pick<AppUsageTotals, 'appIdHasHistory'>,
  ) {}

  /**
   * An id derived from the name. The insert decides whether it is free.
   *
   * @returns `undefined` when a deleted application, possibly of another account, left usage records under the id.
   * Source: docs/reference/management-api.md#application-objects-and-ids.
   */
  async draw(name: string): Promise<string | undefined> {
    const id = appIdFrom(name, this.ids.crockford32(SUFFIX_LENGTH));
    return (await this.usage.appIdHasHistory(id)) ? undefined : id;
  }
}
