import { EmailAddress } from '../../accounts/access/email-address.js';
import { Text, Verbatim } from '../../common/fields/fields.js';
import { MAX_PASSWORD, MIN_PASSWORD } from '../people/person.rules.js';
import { MAX_CODE } from '../recovery/recovery-code.rules.js';

const PASSWORD = `${MIN_PASSWORD} to ${MAX_PASSWORD} characters of any kind.`;

export class RecoverRequest {
  @EmailAddress({ description: 'As registered; case-insensitive.' })
  readonly email: string;

  @Text({ max: MAX_CODE, description: 'A recovery code, in any case, with or without hyphens.' })
  readonly code: string;

  @Verbatim({ min: MIN_PASSWORD, max: MAX_PASSWORD, description: PASSWORD })
  readonly newPassword: string;
}

export class ResetPasswordRequest {
  @Text({ max: 200, description: 'The text after `#` in the link.' })
  readonly token: string;

  @Verbatim({ min: MIN_PASSWORD, max: MAX_PASSWORD, description: PASSWORD })
  readonly newPassword: string;
}
