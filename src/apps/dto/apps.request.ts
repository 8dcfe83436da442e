import { ApiExtraModels, getSchemaPath } from '@nestjs/swagger';
import { APP_CONFIG, type AppStatus, WithAppConfig } from '../../app-directory/config/app-config.js';
import { invalidRequest } from '../../common/errors/gateway-error.js';
import { DisplayName, Int, JsonObject, JsonValue, OneOf, Refused, Text, Verbatim } from '../../common/fields/fields.js';
import { MAX_PAGE_LIMIT, Month } from '../../common/fields/list-fields.js';
import { readShape } from '../../common/fields/read-shape.js';
import { CreateProviderRequest } from '../../providers/dto/provider.request.js';
import type { AppListFilter } from '../app-list.service.js';
import { APP_ORDERS, type AppOrder } from '../apps.repository.js';

const MOST_ASSUMED = 200;

/** @param absent what its absence means. */
function Handle(absent: string): PropertyDecorator {
  return Text({
    ...{ max: 63, pattern: /^[a-z0-9][a-z0-9-]{0,62}$/, optional: true, nullable: true },
    patternText: 'of 1 to 63 lower-case letters, digits and dashes, not beginning with a dash',
    description: `Your own name for it in scripts and files, unique in the account. ${absent}`,
  });
}

@WithAppConfig()
export class CreateAppRequest {
  @Refused('is assigned by the service and cannot be chosen')
  readonly id?: undefined;

  @DisplayName({ max: 100, description: 'A display name; surrounding blanks are removed.' })
  readonly name: string;

  @Handle('Null or absent: none.')
  readonly handle?: string | null;

  @JsonObject({ schema: APP_CONFIG })
  readonly config: object;

  @OneOf(['active', 'disabled'], { optional: true, description: '`active` when absent.' })
  readonly status?: AppStatus;
}

/** The writable members of an existing application. */
class AppBody {
  @DisplayName({ max: 100, description: 'A display name; surrounding blanks are removed.' })
  readonly name: string;

  @Handle('Null: none. Absent: the stored one stays.')
  readonly handle?: string | null;

  @JsonObject({ schema: APP_CONFIG })
  readonly config: object;

  @OneOf(['active', 'disabled'], { optional: true, description: 'Absent: the stored status stays.' })
  readonly status?: AppStatus;
}

@WithAppConfig()
export class ReplaceAppRequest extends AppBody {
  @Int({ min: 1, missingCode: 'app_revision_required', description: 'The revision that was read.' })
  readonly revision: number;
}

/** Validates configurations together with providers that are to be added or changed first. */
function WithAssumedProviders(): PropertyDecorator {
  const provider = { $ref: getSchemaPath(CreateProviderRequest) };
  return JsonValue({
    schema: { type: 'array', maxItems: MOST_ASSUMED, items: provider },
    optional: true,
    description: 'Providers to assume, in place of those with their slugs: as for a creation, without `secret`.',
  });
}

/** @throws invalid_request naming the first invalid place. */
function assumedIn(sent: unknown): readonly CreateProviderRequest[] {
  if (sent === undefined) return [];
  if (!Array.isArray(sent) || sent.length > MOST_ASSUMED) {
    throw invalidRequest('assumed_providers', `must be a list of at most ${MOST_ASSUMED} providers`);
  }
  return sent.map((provider: unknown, index) => {
    const path = `assumed_providers.${index}`;
    if (typeof provider !== 'object' || provider === null) throw invalidRequest(path, 'must be an object');
    if ('secret' in provider) throw invalidRequest(`${path}.secret`, 'must not be sent to a validation');
    return readShape(CreateProviderRequest, provider, path);
  });
}

@WithAppConfig()
@ApiExtraModels(CreateProviderRequest)
export class ValidateAppDraftRequest extends CreateAppRequest {
  @WithAssumedProviders()
  readonly assumed_providers?: unknown;

  /** @throws invalid_request an entry is not valid. */
  assumed(): readonly CreateProviderRequest[] {
    return assumedIn(this.assumed_providers);
  }
}

/** What a validation returns besides its result. */
export class ValidationQuery {
  @OneOf(['config'], { optional: true, description: 'Adds the configuration as it would be stored.' })
  readonly include?: 'config';
}

@WithAppConfig()
@ApiExtraModels(CreateProviderRequest)
export class ValidateAppRequest extends AppBody {
  @Int({ min: 1, optional: true, description: 'Refused when it is not the stored one, as a replacement would be.' })
  readonly revision?: number;

  @WithAssumedProviders()
  readonly assumed_providers?: unknown;

  /** @throws invalid_request an entry is not valid. */
  assumed(): readonly CreateProviderRequest[] {
    return assumedIn(this.assumed_providers);
  }
}

export class DeleteAppRequest {
  @Verbatim({ max: 100, description: 'The id of the application, again.' })
  readonly confirm: string;
}

export class ListAppsRequest {
  @Month()
  readonly month?: string;

  @Int({
    min: 1,
    max: MAX_PAGE_LIMIT,
    optional: true,
    description: 'Maximum number of applications to return; all when absent.',
  })
  readonly limit?: number;

  @Verbatim({ min: 0, max: 64, optional: true, description: 'Only applications whose id comes after this one, by id.' })
  readonly after_id?: string;

  @Verbatim({
    min: 0,
    max: 200,
    optional: true,
    description: 'Only applications whose name, handle, id or bundle id contains this text.',
  })
  readonly query?: string;

  @OneOf(['active', 'disabled'], { optional: true, description: 'Only applications with this status.' })
  readonly status?: AppStatus;

  @OneOf(APP_ORDERS, {
    optional: true,
    description: '`id` when absent; `errors` counts failures of providers and refusals.',
  })
  readonly sort?: AppOrder;

  @OneOf(['asc', 'desc'], { optional: true, description: 'When absent `asc` for ids and names, else `desc`.' })
  readonly order?: 'asc' | 'desc';

  @Int({ min: 0, optional: true, description: 'How many applications to skip; 0 when absent.' })
  readonly offset?: number;

  toFilter(): AppListFilter {
    const { month, query, status, sort = 'id', order, offset = 0, limit, after_id: afterId } = this;
    const isDescending = order === undefined ? sort !== 'id' && sort !== 'name' : order === 'desc';
    if (afterId !== undefined && (sort !== 'id' || isDescending))
      throw invalidRequest('after_id', 'needs applications in ascending order of id; use "offset" with other orders');
    return { month, query, status, sort, isDescending, offset, limit, afterId };
  }
}
