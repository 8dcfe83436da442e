import { DisplayName, IgnoresOthers, Timestamp } from '../../common/fields/fields.js';

@IgnoresOthers()
export class CreateAppKeyRequest {
  @DisplayName({ max: 100, description: 'A display name; surrounding blanks are removed.' })
  readonly name: string;

  @Timestamp({
    optional: true,
    nullable: true,
    description: 'When the key expires; must be in the future. Absent or null: it does not expire.',
  })
  readonly expires_at?: string | null;
}
