import { Inject, Injectable } from '@nestjs/common';
import { Ids } from '../common/ids.js';
import { AppUsageTotals } from '../usage/reports/app-usage-totals.service.js';

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

const MAX_APP_ID_LENGTH = 63;
const FALLBACK_STEM = 'app';

/**
 * A name reduced to `a-z`, `0-9` and single inner dashes, at most 63 characters; `app` when nothing is left.
 * Source: docs/reference/management-api.md#application-objects-and-ids.
 */
export function slugifyAppName(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return cutStem(plain.replace(/[^a-z0-9]+/g, '-').replace(/^-/, ''), MAX_APP_ID_LENGTH) || FALLBACK_STEM;
}

/**
 * The id of a new application: its slugified name, a dash and the suffix, at most 63 characters.
 *
 * @param suffix six random characters of Crockford's base32 in lower case.
 */
export function appIdFrom(name: string, suffix: string): string {
  return `${cutStem(slugifyAppName(name), MAX_APP_ID_LENGTH - suffix.length - 1)}-${suffix}`;
}

function cutStem(slug: string, length: number): string {
  return slug.slice(0, length).replace(/-$/, '');
}
