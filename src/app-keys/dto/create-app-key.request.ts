import { IgnoresOthers, Text } from '../../common/fields/fields.js';

@IgnoresOthers()
export class CreateAppKeyRequest {
  @Text({ max: 100, description: 'For people; surrounding blanks are dropped.' })
  readonly name: string;
}
