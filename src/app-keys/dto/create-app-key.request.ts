import { DisplayName, IgnoresOthers, Timestamp } from '../../common/fields/fields.js';

@IgnoresOthers()
export class CreateAppKeyRequest {
  @DisplayName({ max: 100, description: 'For people; surrounding blanks are dropped.' })
  readonly name: string;

  @Timestamp({
    optional: true,
    nullable: true,
    description: 'From when the key is refused; in the future. It does not expire when absent or null.',
  })
  readonly expires_at?: string | null;
}
