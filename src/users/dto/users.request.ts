import { Int, OneOf, Verbatim } from '../../common/fields/fields.js';
import { DEFAULT_PAGE_LIMIT, Month, PageLimit } from '../../common/fields/list-fields.js';
import type { UserFilter, UserStatus } from '../app-user.entity.js';

export class GetUserRequest {
  @Month()
  readonly month?: string;
}

/** A user by query parameter, for ids that a path cannot carry unchanged. */
export class NamedUserRequest {
  @NamedUser()
  readonly user_id: string;
}

export class GetNamedUserRequest {
  @NamedUser()
  readonly user_id: string;

  @Month()
  readonly month?: string;
}

function NamedUser(): PropertyDecorator {
  return Verbatim({ max: 1024, description: 'Id of the user, percent-encoded: a plus sign is `%2B`.' });
}

export class ListUsersRequest {
  @Month()
  month?: string;

  @Verbatim({ min: 0, max: 1024, optional: true, description: 'Only users with this text in their id.' })
  query?: string;

  @OneOf(['active', 'blocked'], { optional: true, description: 'Only users with this status.' })
  status?: UserStatus;

  @PageLimit('users')
  limit?: number;

  @Int({ min: 0, optional: true, description: 'How many users to skip; 0 when absent.' })
  offset?: number;

  toFilter(): UserFilter {
    const { limit = DEFAULT_PAGE_LIMIT, offset = 0, query, status } = this;
    return { limit, offset, query, status };
  }
}
