import { Text, Verbatim } from '../../common/fields/fields.js';
import { IMAGE_ADDRESS, MAX_IMAGE_ADDRESS, MAX_NAME, MAX_PASSWORD, MIN_PASSWORD } from '../people/person.rules.js';

export class ChangePasswordRequest {
  @Verbatim({ max: MAX_PASSWORD })
  readonly currentPassword: string;

  @Verbatim({ min: MIN_PASSWORD, max: MAX_PASSWORD })
  readonly newPassword: string;
}

export class UpdateUserRequest {
  @Text({ max: MAX_NAME, optional: true })
  readonly name?: string;

  @Text({
    max: MAX_IMAGE_ADDRESS,
    pattern: IMAGE_ADDRESS,
    patternText: 'an https address',
    optional: true,
    nullable: true,
    description: 'Address of a picture; null removes it.',
  })
  readonly image?: string | null;
}
