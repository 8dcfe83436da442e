import { UserMonth } from './user-month.field.js';

export class GetUserRequest {
  @UserMonth()
  readonly month?: string;
}
