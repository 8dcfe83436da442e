import { ApiProperty } from '@nestjs/swagger';
import { ROLES, type Role } from '../../identity/admin-principal.js';
import type { Membership, Organization } from '../organization.js';

export class OrganizationResource {
  @ApiProperty({ type: 'string' })
  id: string;

  @ApiProperty({ type: 'string' })
  name: string;

  @ApiProperty({ type: 'string', format: 'date-time' })
  createdAt: string;

  @ApiProperty({ type: 'boolean', description: 'Whether a person owns it.' })
  claimed: boolean;

  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, description: 'Null for one without a deadline.' })
  expiresAt: string | null;

  static from({ id, name, createdAt, claimed, expiresAt }: Organization): OrganizationResource {
    return Object.assign(new OrganizationResource(), {
      id,
      name,
      createdAt: createdAt.toISOString(),
      claimed,
      expiresAt: expiresAt?.toISOString() ?? null,
    });
  }
}

export class MembershipResource {
  @ApiProperty({ type: OrganizationResource })
  organization: OrganizationResource;

  @ApiProperty({ type: 'string', enum: [...ROLES] })
  role: Role;

  @ApiProperty({ type: 'string', enum: ['active'] })
  status: 'active';

  @ApiProperty({ type: 'string', format: 'date-time' })
  joinedAt: string;

  static from({ organization, role, joinedAt }: Membership): MembershipResource {
    return Object.assign(new MembershipResource(), {
      organization: OrganizationResource.from(organization),
      role,
      status: 'active',
      joinedAt: joinedAt.toISOString(),
    });
  }
}

export class OrganizationResponse {
  @ApiProperty({ type: OrganizationResource })
  organization: OrganizationResource;

  static from(organization: Organization): OrganizationResponse {
    return Object.assign(new OrganizationResponse(), { organization: OrganizationResource.from(organization) });
  }
}

export class OrganizationListResponse {
  @ApiProperty({ type: [MembershipResource], description: 'The oldest organization first.' })
  organizations: MembershipResource[];

  static from(memberships: readonly Membership[]): OrganizationListResponse {
    return Object.assign(new OrganizationListResponse(), { organizations: memberships.map(MembershipResource.from) });
  }
}
