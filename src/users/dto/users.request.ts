import { invalidRequest } from '../../common/errors/gateway-error.js';
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

  @Int({
    min: 1,
    max: 100,
    optional: true,
    description:
      'Only users who have spent at least this percentage of such a budget, as `at_limit` does with 100. Not with `at_limit=true`.',
  })
  min_budget_percent?: number;

  @Text({ max: 8192, optional: true, description: '`next_cursor` of the page before, with the same `sort`.' })
  cursor?: string;

  toQuestion(): UserQuestion {
    const { limit = DEFAULT_PAGE_LIMIT, offset = 0, sort: order = 'recent', query, status, month, cursor } = this;
    const { at_limit: atLimit, min_budget_percent: percent } = this;
    if (atLimit === 'true' && percent !== undefined) {
      throw invalidRequest('min_budget_percent', 'must be left out with at_limit=true, which stands for 100');
    }
    const minBudgetPercent = atLimit === 'true' ? 100 : percent;
    return { limit, offset, order, query, status, month, cursor, minBudgetPercent };
  }
}
