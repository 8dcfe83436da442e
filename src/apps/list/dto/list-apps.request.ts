import { Int, Verbatim } from '../../../common/fields/fields.js';
import { MAX_PAGE_LIMIT, Month } from '../../../common/fields/list-fields.js';
import type { AppListFilter } from '../app-list.service.js';

export class ListAppsRequest {
  @Month()
  readonly month?: string;

  @Int({ min: 1, max: MAX_PAGE_LIMIT, optional: true, description: 'Most applications to return; all when absent.' })
  readonly limit?: number;

  @Verbatim({ min: 0, max: 64, optional: true, description: 'Only applications whose id comes after this one.' })
  readonly after_id?: string;

  toFilter(): AppListFilter {
    const { month, limit, after_id: afterId } = this;
    return { month, limit, afterId };
  }
}
