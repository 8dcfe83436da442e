import { Int, OneOf, Text, Verbatim } from '../../common/fields/fields.js';
import { DEFAULT_PAGE_LIMIT, Month, PageLimit } from '../../common/fields/list-fields.js';
import { USER_ORDERS, type UserOrder, type UserStatus } from '../app-user.entity.js';
import type { UserQuestion } from '../managed-users.service.js';

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

  @Int({ min: 0, optional: true, description: 'How many users to skip; 0 when absent. Only with `sort=recent`.' })
  offset?: number;

  @OneOf(USER_ORDERS, {
    optional: true,
    description:
      '`recent`, when absent: the most recently active first. `cost`: the largest cost of the month first. ' +
      '`budget`: the largest share of the budget first. Ties are ordered by id.',
  })
  sort?: UserOrder;

  @OneOf(['true', 'false'], {
    optional: true,
    description:
      '`true`: only users who have spent their budget of the month or, in the current month, of the day or week; nobody where each user has none.',
  })
  at_limit?: 'true' | 'false';

  @Text({ max: 8192, optional: true, description: '`next_cursor` of the page before, with the same `sort`.' })
  cursor?: string;

  toQuestion(): UserQuestion {
    const { limit = DEFAULT_PAGE_LIMIT, offset = 0, sort: order = 'recent', query, status, month, cursor } = this;
    return { limit, offset, order, query, status, month, cursor, isAtLimit: this.at_limit === 'true' };
  }
}
