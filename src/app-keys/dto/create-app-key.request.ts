import { DisplayName, IgnoresOthers } from '../../common/fields/fields.js';

@IgnoresOthers()
export class CreateAppKeyRequest {
  @DisplayName({ max: 100, description: 'For people; surrounding blanks are dropped.' })
  readonly name: string;
}
