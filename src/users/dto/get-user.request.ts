import { Month } from '../../common/fields/list-fields.js';

export class GetUserRequest {
  @Month()
  readonly month?: string;
}
