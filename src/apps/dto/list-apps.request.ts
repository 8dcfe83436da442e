import { Month } from '../../common/fields/list-fields.js';

export class ListAppsRequest {
  @Month()
  readonly month?: string;
}
