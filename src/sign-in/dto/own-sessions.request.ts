import { Verbatim } from '../../common/fields/fields.js';

const MAX_SESSION_ID = 100;

export class RevokeSessionRequest {
  @Verbatim({ max: MAX_SESSION_ID, description: 'The id of one of your sessions, from the list.' })
  readonly id: string;
}
