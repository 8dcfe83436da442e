import { OneOf, Verbatim } from '../../../common/fields/fields.js';
import { ROLES, type Role } from '../../../identity/admin-principal.js';
import { EmailAddress } from '../../../identity/email-address.js';

export class CreateInvitationRequest {
  @OneOf(ROLES, { description: 'What the person is to become; not above your own role.' })
  readonly role: Role;

  @EmailAddress({ optional: true, description: 'The only address that may accept; when absent, whoever has the link.' })
  readonly email?: string;
}

export class InvitationTokenRequest {
  @Verbatim({ max: 200, description: 'What follows `#` in the link.' })
  readonly token: string;
}
