import { APP_CONFIG, type AppStatus, WithAppConfig } from '../../app-directory/config/app-config.js';
import { Int, JsonObject, OneOf, Refused, Text, Verbatim } from '../../common/fields/fields.js';
import { MAX_PAGE_LIMIT, Month } from '../../common/fields/list-fields.js';
import type { AppListFilter } from '../app-list.service.js';

@WithAppConfig()
export class CreateAppRequest {
  @Refused('is assigned by the service and cannot be chosen')
  readonly id?: undefined;

  @Text({ max: 100, description: 'For people; surrounding blanks are dropped.' })
  readonly name: string;

  @JsonObject({ schema: APP_CONFIG })
  readonly config: object;

  @OneOf(['active', 'disabled'], { optional: true, description: '`active` when absent.' })
  readonly status?: AppStatus;
}

@WithAppConfig()
export class ReplaceAppRequest {
  @Text({ max: 100, description: 'For people; surrounding blanks are dropped.' })
  readonly name: string;

  @JsonObject({ schema: APP_CONFIG })
  readonly config: object;

  @OneOf(['active', 'disabled'], { optional: true, description: 'Absent: the stored status stays.' })
  readonly status?: AppStatus;

  @Int({ min: 1, missingCode: 'app_revision_required', description: 'The revision that was read.' })
  readonly revision: number;
}

@WithAppConfig()
export class ValidateAppRequest {
  @Text({ max: 100, description: 'For people; surrounding blanks are dropped.' })
  readonly name: string;

  @JsonObject({ schema: APP_CONFIG })
  readonly config: object;

  @OneOf(['active', 'disabled'], { optional: true, description: 'Absent: the stored status stays.' })
  readonly status?: AppStatus;

  @Int({ min: 1, optional: true, description: 'Refused when it is not the stored one, as a replacement would be.' })
  readonly revision?: number;
}

export class DeleteAppRequest {
  @Verbatim({ max: 100, description: 'The id of the application, again.' })
  readonly confirm: string;
}

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
