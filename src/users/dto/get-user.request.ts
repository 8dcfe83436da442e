import { Verbatim } from '../../common/fields/fields.js';
import { Month } from '../../common/fields/list-fields.js';

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
