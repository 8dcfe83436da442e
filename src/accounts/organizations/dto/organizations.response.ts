import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { ROLES, type Role } from '../../access/admin-principal.js';
import type { MemberRow, Membership, Organization, SignedInUser } from '../organizations.repository.js';
import type { AdminSession } from '../organizations.service.js';

export class OrganizationResource {
  @ApiProperty({ type: 'string' })
  id: string;

  @ApiProperty({ type: 'string' })
  name: string;

  @ApiProperty({ type: 'string', format: 'date-time' })
  createdAt: string;

  @ApiProperty({ type: 'boolean', description: 'Whether a person owns it.' })
  claimed: boolean;

  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, description: 'Null without an expiry.' })
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

const KINDS = ['human', 'service'] as const;

class SessionUser {
  @ApiProperty({ type: 'string' })
  id: string;

  @ApiProperty({ type: 'string', nullable: true })
  name: string | null;

  @ApiProperty({ type: 'string', nullable: true, description: 'Null for service identities.' })
  email: string | null;

  @ApiProperty({ type: 'string', enum: [...KINDS] })
  kind: SignedInUser['kind'];

  @ApiProperty({ type: 'boolean' })
  emailVerified: boolean;

  @ApiProperty({ type: 'string', nullable: true })
  image: string | null;

  @ApiProperty({ type: 'string', format: 'date-time' })
  createdAt: string;
}

class SessionActor {
  @ApiProperty({ type: 'string', enum: ['user'] })
  type: 'user';

  @ApiProperty({ type: 'string' })
  id: string;

  @ApiProperty({ type: 'string', enum: [...KINDS] })
  kind: SignedInUser['kind'];

  @ApiProperty({ type: 'string', nullable: true, description: 'Id of the session or key.' })
  credentialId: string | null;

  @ApiProperty({
    type: 'string',
    enum: ['web', 'api', 'cli', 'mcp', 'system'],
    description: 'A label, not a permission.',
  })
  actionSource: AdminSession['actor']['actionSource'];
}

@ApiExtraModels(OrganizationResource)
class AdminSessionResource {
  @ApiProperty({ type: SessionUser })
  user: SessionUser;

  @ApiProperty({
    anyOf: [{ $ref: getSchemaPath(OrganizationResource) }, { type: 'null' }],
    description: 'Your current one; null for a person without one.',
  })
  organization: OrganizationResource | null;

  @ApiProperty({
    type: 'string',
    enum: [...ROLES, null],
    nullable: true,
    description: 'Your role in it; null without one.',
  })
  role: Role | null;

  @ApiProperty({
    type: [MembershipResource],
    description: 'A person’s organizations, or the one of the key; oldest first.',
  })
  memberships: MembershipResource[];

  @ApiProperty({ type: 'string', enum: ['session', 'apiKey', 'oauth'] })
  credentialType: AdminSession['credentialType'];

  @ApiProperty({
    type: 'string',
    enum: ['interactive', 'credential'],
    description: '`interactive` is a signed-in person.',
  })
  assurance: 'interactive' | 'credential';

  @ApiProperty({ type: SessionActor })
  actor: SessionActor;
}

export class AdminSessionResponse {
  @ApiProperty({ type: AdminSessionResource })
  session: AdminSessionResource;

  static from({ user, current, memberships, credentialType, actor }: AdminSession): AdminSessionResponse {
    const session = Object.assign(new AdminSessionResource(), {
      user: { ...user, createdAt: user.createdAt.toISOString() },
      organization: current && OrganizationResource.from(current.organization),
      role: current?.role ?? null,
      memberships: memberships.map(MembershipResource.from),
      credentialType,
      assurance: credentialType === 'session' ? 'interactive' : 'credential',
      actor,
    });
    return Object.assign(new AdminSessionResponse(), { session });
  }
}

class Member {
  @ApiProperty({ type: 'string', description: 'Id of the person or service identity.' })
  id: string;

  @ApiProperty({ type: 'string', nullable: true })
  name: string | null;

  @ApiProperty({ type: 'string', nullable: true, description: 'Null for service identities.' })
  email: string | null;

  @ApiProperty({ type: 'string', enum: ['human', 'service'] })
  kind: 'human' | 'service';

  @ApiProperty({ type: 'string', enum: [...ROLES] })
  role: Role;

  @ApiProperty({ type: 'string', format: 'date-time' })
  joinedAt: string;

  static from({ id, name, email, kind, role, joinedAt }: MemberRow): Member {
    return Object.assign(new Member(), { id, name, email, kind, role, joinedAt: joinedAt.toISOString() });
  }
}

export class MemberListResponse {
  @ApiProperty({ type: [Member], description: 'Oldest members first.' })
  members: Member[];

  static from(rows: readonly MemberRow[]): MemberListResponse {
    return Object.assign(new MemberListResponse(), { members: rows.map(Member.from) });
  }
}

export class MemberResponse {
  @ApiProperty({ type: Member })
  member: Member;

  static from(row: MemberRow): MemberResponse {
    return Object.assign(new MemberResponse(), { member: Member.from(row) });
  }
}

export class RemovedMemberResponse {
  @ApiProperty({ type: 'boolean', enum: [true] })
  removed: boolean;

  static done(): RemovedMemberResponse {
    return Object.assign(new RemovedMemberResponse(), { removed: true });
  }
}
