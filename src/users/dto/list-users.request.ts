import { Int, OneOf, Verbatim } from '../../common/fields/fields.js';
import type { UserFilter, UserStatus } from '../user.js';
import { UserMonth } from './user-month.field.js';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

export class ListUsersRequest {
  @UserMonth()
  month?: string;

  @Verbatim({ min: 0, max: 1024, optional: true, description: 'Only users with this text in their id.' })
  query?: string;

  @OneOf(['active', 'blocked'], { optional: true, description: 'Only users with this status.' })
  status?: UserStatus;

  @Int({ min: 1, max: MAX_LIMIT, optional: true, description: `Most users to return; ${DEFAULT_LIMIT} when absent.` })
  limit?: number;

  @Int({ min: 0, optional: true, description: 'How many users to pass over; none when absent.' })
  offset?: number;

  toFilter(): UserFilter {
    const { limit = DEFAULT_LIMIT, offset = 0, query, status } = this;
    return { limit, offset, query, status };
  }
}
