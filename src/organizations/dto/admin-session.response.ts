import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { ROLES, type Role } from '../../identity/admin-principal.js';
import type { AdminSession, SignedInUser } from '../organization.js';
import { MembershipResource, OrganizationResource } from './organization.response.js';

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

  @ApiProperty({ type: 'string', enum: ['web', 'api', 'cli', 'mcp', 'system'], description: 'A label, no permission.' })
  actionSource: AdminSession['actor']['actionSource'];
}

@ApiExtraModels(OrganizationResource)
class AdminSessionResource {
  @ApiProperty({ type: SessionUser })
  user: SessionUser;

  @ApiProperty({
    anyOf: [{ $ref: getSchemaPath(OrganizationResource) }, { type: 'null' }],
    description: 'The one you act in; null for a person who belongs to none.',
  })
  organization: OrganizationResource | null;

  @ApiProperty({
    type: 'string',
    enum: [...ROLES, null],
    nullable: true,
    description: 'Yours in this organization; null without one.',
  })
  role: Role | null;

  @ApiProperty({
    type: [MembershipResource],
    description: 'Of a person all, of a key the one it was made for; the oldest organization first.',
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
