import { DisplayName, IgnoresOthers, OneOf, Text, Verbatim } from '../../../common/fields/fields.js';
import { ROLES, type Role } from '../../access/admin-principal.js';
import { EmailAddress } from '../../access/email-address.js';
import { MAX_BOOTSTRAP_KEY, MAX_ORGANIZATION_NAME } from '../organization.rules.js';

export class OrganizationNameRequest {
  @DisplayName({ max: MAX_ORGANIZATION_NAME, description: 'A display name; surrounding blanks are removed.' })
  readonly name: string;
}

export class ClaimOrganizationRequest {
  @Verbatim({ max: MAX_BOOTSTRAP_KEY, description: 'The value of `BOOTSTRAP_MANAGEMENT_KEY`.' })
  readonly bootstrapKey: string;
}

@IgnoresOthers()
export class SelectOrganizationRequest {
  @Text({ max: 300, description: 'One of yours.' })
  readonly organizationId: string;
}

export class MemberRoleRequest {
  @OneOf(ROLES, { description: '`member` only reads.' })
  readonly role: Role;
}

export class CreateInvitationRequest {
  @OneOf(ROLES, { description: 'The role of the person; not above your own.' })
  readonly role: Role;

  @EmailAddress({ optional: true, description: 'The only address that may accept; absent: anybody with the link.' })
  readonly email?: string;
}

export class InvitationTokenRequest {
  @Verbatim({ max: 200, description: 'What follows `#` in the link.' })
  readonly token: string;
}
