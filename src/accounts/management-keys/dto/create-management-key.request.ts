import { DisplayName, OneOf } from '../../../common/fields/fields.js';
import { GRANTS, type Grant } from '../../access/admin-principal.js';

const DEFAULT_GRANT: Grant = 'manage';

/** Maximum length of the name of a management key. */
export const MAX_KEY_NAME = 100;

export class CreateManagementKeyRequest {
  @DisplayName({ max: MAX_KEY_NAME, description: 'A display name; surrounding blanks are removed.' })
  readonly name: string;

  @OneOf(GRANTS, {
    optional: true,
    description: `The most the key may do, regardless of its owner’s role; \`${DEFAULT_GRANT}\` when absent.`,
  })
  readonly grant?: Grant;

  chosenGrant(): Grant {
    return this.grant ?? DEFAULT_GRANT;
  }
}
