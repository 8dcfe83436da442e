import { DisplayName, IgnoresOthers, OneOf, Text, Verbatim } from '../../../common/fields/fields.js';
import { ROLES, type Role } from '../../access/admin-principal.js';
import { EmailAddress } from '../../access/email-address.js';
import { MAX_BOOTSTRAP_KEY, MAX_ORGANIZATION_NAME } from '../organization.rules.js';

export class OrganizationNameRequest {
  @DisplayName({ max: MAX_ORGANIZATION_NAME, description: 'For people; surrounding blanks are dropped.' })
  readonly name: string;
}

export class ClaimOrganizationRequest {
  @Verbatim({ max: MAX_BOOTSTRAP_KEY, description: 'The value of `BOOTSTRAP_MANAGEMENT_KEY`.' })
  readonly bootstrapKey: string;
}

@IgnoresOthers()
export class SelectOrganizationRequest {
  @Text({ max: 300, description: 'One that you belong to.' })
  readonly organizationId: string;
}

export class MemberRoleRequest {
  @OneOf(ROLES, { description: '`member` only reads.' })
  readonly role: Role;
}

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
