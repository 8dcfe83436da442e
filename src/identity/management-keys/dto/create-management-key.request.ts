import { OneOf, Text } from '../../../common/fields/fields.js';
import { GRANTS, type Grant } from '../../admin-principal.js';

const DEFAULT_GRANT: Grant = 'manage';

export class CreateManagementKeyRequest {
  @Text({ max: 100, description: 'For people; surrounding blanks are dropped.' })
  readonly name: string;

  @OneOf(GRANTS, {
    optional: true,
    description: `What the key may do at most, whatever its owner’s role; \`${DEFAULT_GRANT}\` when absent.`,
  })
  readonly grant?: Grant;

  chosenGrant(): Grant {
    return this.grant ?? DEFAULT_GRANT;
  }
}
