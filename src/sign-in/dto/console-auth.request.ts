import { EmailAddress } from '../../accounts/access/email-address.js';
import { MAX_BOOTSTRAP_KEY } from '../../accounts/organizations/organization.rules.js';
import { invalidRequest } from '../../common/errors/gateway-error.js';
import { DisplayName, Flag, OneOf, Text, Verbatim } from '../../common/fields/fields.js';
import { Secret } from '../../common/log/secret.js';
import type { PasswordSignUp } from '../passwords/passwords.service.js';
import {
  IMAGE_ADDRESS,
  MAX_IMAGE_ADDRESS,
  MAX_INVITATION_TOKEN,
  MAX_NAME,
  MAX_PASSWORD,
  MIN_PASSWORD,
} from '../people/person.rules.js';
import { ConsolePath } from '../third-party/console-path.js';

const PASSWORD = `${MIN_PASSWORD} to ${MAX_PASSWORD} characters of any kind.`;
const BOOTSTRAP_KEY =
  'The value of `BOOTSTRAP_MANAGEMENT_KEY`: the person owns the account that it opened, and gets no other. Not with ' +
  '`invitationToken`.';
const INVITATION_TOKEN = 'The text after `#` in the link of an invitation; the person joins its organization.';

export class SignUpRequest {
  @DisplayName({ max: MAX_NAME })
  readonly name: string;

  @EmailAddress({ description: 'Compared case-insensitively; not verified by mail.' })
  readonly email: string;

  @Verbatim({ min: MIN_PASSWORD, max: MAX_PASSWORD, description: PASSWORD })
  readonly password: string;

  @Text({ max: MAX_INVITATION_TOKEN, optional: true, description: INVITATION_TOKEN })
  readonly invitationToken?: string;

  @Verbatim({ max: MAX_BOOTSTRAP_KEY, optional: true, description: BOOTSTRAP_KEY })
  readonly bootstrapKey?: string;

  /** @throws invalid_request at `bootstrapKey` beside an invitation, because they lead to different organizations. */
  toSignUp(): PasswordSignUp {
    const { name, email, password, invitationToken, bootstrapKey } = this;
    if (invitationToken !== undefined && bootstrapKey !== undefined) {
      throw invalidRequest('bootstrapKey', 'cannot be combined with invitationToken');
    }
    return {
      ...{ name, email, password: new Secret(password) },
      invitation: invitationToken === undefined ? undefined : new Secret(invitationToken),
      bootstrapKey: bootstrapKey === undefined ? undefined : new Secret(bootstrapKey),
    };
  }
}

export class SignInRequest {
  @EmailAddress({ description: 'As registered; case-insensitive.' })
  readonly email: string;

  @Verbatim({ max: MAX_PASSWORD })
  readonly password: string;
}

export class SocialSignInRequest {
  @OneOf(['google'])
  readonly provider: 'google';

  @ConsolePath({
    description: 'Where the browser goes when the person is signed in: a path of the console; `/` by default.',
  })
  readonly callbackURL?: string;

  @ConsolePath({ description: 'Where it goes otherwise, with `error` in its query; `/login` by default.' })
  readonly errorCallbackURL?: string;

  @Flag({ optional: true, description: 'Returned in the answer, inverted as `redirect`.' })
  readonly disableRedirect?: boolean;

  @Text({ max: MAX_INVITATION_TOKEN, optional: true, description: INVITATION_TOKEN })
  readonly invitationToken?: string;
}

export class ChangePasswordRequest {
  @Verbatim({ max: MAX_PASSWORD })
  readonly currentPassword: string;

  @Verbatim({ min: MIN_PASSWORD, max: MAX_PASSWORD })
  readonly newPassword: string;
}

export class UpdateUserRequest {
  @DisplayName({ max: MAX_NAME, optional: true })
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
