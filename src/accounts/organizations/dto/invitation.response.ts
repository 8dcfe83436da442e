import { ApiProperty } from '@nestjs/swagger';
import { ROLES, type Role } from '../../access/admin-principal.js';
import type { InvitationStatus } from '../invitations/invitation.rules.js';
import type { InvitationToOrganization } from '../invitations/invitations.repository.js';
import type { JoinedOrganization, ManagedInvitation } from '../invitations/invitations.service.js';

class Invitation {
  @ApiProperty({ type: 'string', example: 'inv_0a1b2c3d4e5f6g7h8i9j' })
  id: string;

  @ApiProperty({ type: 'string', enum: [...ROLES] })
  role: Role;

  @ApiProperty({ type: 'string', nullable: true, description: 'The only address that may accept, if one was named.' })
  email: string | null;

  @ApiProperty({ type: 'string', enum: ['pending', 'accepted', 'revoked', 'expired'] })
  status: InvitationStatus;

  @ApiProperty({ type: 'string', description: 'Id of the member who created it.' })
  invitedBy: string;

  @ApiProperty({ type: 'string', nullable: true, description: 'Id of the person who accepted it.' })
  acceptedBy: string | null;

  @ApiProperty({ type: 'string', format: 'date-time' })
  createdAt: string;

  @ApiProperty({ type: 'string', format: 'date-time', description: 'Seven days after its creation.' })
  expiresAt: string;

  @ApiProperty({ type: 'string', format: 'date-time', nullable: true })
  acceptedAt: string | null;

  @ApiProperty({ type: 'string', format: 'date-time', nullable: true })
  revokedAt: string | null;

  static from(invitation: ManagedInvitation): Invitation {
    const { id, role, email, status, invitedBy, acceptedBy } = invitation;
    return Object.assign(new Invitation(), {
      ...{ id, role, email, status, invitedBy, acceptedBy },
      createdAt: invitation.createdAt.toISOString(),
      expiresAt: invitation.expiresAt.toISOString(),
      acceptedAt: invitation.acceptedAt?.toISOString() ?? null,
      revokedAt: invitation.revokedAt?.toISOString() ?? null,
    });
  }
}

export class InvitationResponse {
  @ApiProperty({ type: Invitation })
  invitation: Invitation;

  static from(invitation: ManagedInvitation): InvitationResponse {
    return Object.assign(new InvitationResponse(), { invitation: Invitation.from(invitation) });
  }
}

export class WrittenInvitationResponse {
  @ApiProperty({ type: Invitation })
  invitation: Invitation;

  @ApiProperty({ type: 'string', format: 'uri', description: 'The link to pass on: shown only once.' })
  url: string;

  @ApiProperty({ type: 'boolean', description: 'Whether the link is mailed to the address too.' })
  mailed: boolean;

  static from(
    invitation: ManagedInvitation,
    { url, isMailed }: { readonly url: string; readonly isMailed: boolean },
  ): WrittenInvitationResponse {
    const written = { invitation: Invitation.from(invitation), url, mailed: isMailed };
    return Object.assign(new WrittenInvitationResponse(), written);
  }
}

export class InvitationListResponse {
  @ApiProperty({ type: [Invitation], description: 'Newest first; ended ones are kept for 90 days.' })
  invitations: Invitation[];

  static from(invitations: readonly ManagedInvitation[]): InvitationListResponse {
    return Object.assign(new InvitationListResponse(), { invitations: invitations.map(Invitation.from) });
  }
}

export class InvitationDetailsResponse {
  @ApiProperty({ type: 'string' })
  organizationName: string;

  @ApiProperty({ type: 'string', enum: [...ROLES] })
  role: Role;

  @ApiProperty({ type: 'string', nullable: true, description: 'The only address that may accept, if one was named.' })
  email: string | null;

  @ApiProperty({ type: 'string', format: 'date-time' })
  expiresAt: string;

  static from({ organizationName, role, email, expiresAt }: InvitationToOrganization): InvitationDetailsResponse {
    const details = { organizationName, role, email, expiresAt: expiresAt.toISOString() };
    return Object.assign(new InvitationDetailsResponse(), details);
  }
}

export class JoinedOrganizationResponse {
  @ApiProperty({ type: 'string' })
  organizationId: string;

  @ApiProperty({ type: 'string', enum: [...ROLES], description: 'Your role; a member keeps the higher of two.' })
  role: Role;

  static from({ organizationId, role }: JoinedOrganization): JoinedOrganizationResponse {
    return Object.assign(new JoinedOrganizationResponse(), { organizationId, role });
  }
}
