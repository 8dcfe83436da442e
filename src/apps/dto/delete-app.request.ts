import { Verbatim } from '../../common/fields/fields.js';

export class DeleteAppRequest {
  @Verbatim({ max: 100, description: 'The id of the application, again.' })
  readonly confirm: string;
}
