import { ApiProperty } from '@nestjs/swagger';
import { GRANTS, type Grant, ROLES, type Role } from '../../accounts/access/admin-principal.js';
import type { AuthorizationState } from '../authorizations/authorization.rules.js';
import type { ShownClient } from '../clients/client.rules.js';
import { redirectHost } from '../clients/redirect-uris.rules.js';
import type { ConsentDetails } from '../decision/consents.service.js';

const STATES: readonly AuthorizationState[] = ['pending', 'completed', 'denied', 'expired', 'retired'];

class ConsentClient {
  @ApiProperty({ type: 'string' })
  id: string;

  @ApiProperty({ type: 'string', description: 'Its own claim: untrusted text.' })
  name: string;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'The host that serves its metadata; null if registered.',
  })
  domain: string | null;

  @ApiProperty({ type: 'string', enum: ['cimd', 'registered'] })
  source: ShownClient['source'];
}

class ConsentViewer {
  @ApiProperty({ type: 'string', nullable: true })
  name: string | null;

  @ApiProperty({ type: 'string' })
  email: string;
}

class ConsentAccount {
  @ApiProperty({ type: 'string' })
  id: string;

  @ApiProperty({ type: 'string' })
  name: string;

  @ApiProperty({ type: 'string', enum: [...ROLES] })
  role: Role;
}

export class ConsentDetailsResponse {
  @ApiProperty({ type: 'string' })
  id: string;

  @ApiProperty({
    type: 'string',
    enum: [...STATES],
    description: '`retired`: the connection was revoked, or its code was never used.',
  })
  state: AuthorizationState;

  @ApiProperty({ type: ConsentClient })
  client: ConsentClient;

  @ApiProperty({
    type: 'string',
    description: 'Target of the redirect after the decision: a host, or a private scheme.',
  })
  redirectHost: string;

  @ApiProperty({ type: 'string', enum: [...GRANTS] })
  requestedGrant: Grant;

  @ApiProperty({ type: 'string', format: 'date-time' })
  expiresAt: string;

  @ApiProperty({ type: ConsentViewer, nullable: true })
  viewer: ConsentViewer | null;

  @ApiProperty({ type: [ConsentAccount], description: 'The accounts of the viewer, one of which the client can get.' })
  accounts: ConsentAccount[];

  @ApiProperty({ type: 'string', enum: ['registration_required', 'no_eligible_organization'], nullable: true })
  blockedBy: ConsentDetails['blockedBy'];

  @ApiProperty({
    type: 'boolean',
    description: 'Whether the client can get access without a person: the deployment is empty.',
  })
  guestAvailable: boolean;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    nullable: true,
    description: 'Null: a guest account does not expire.',
  })
  guestExpiresAt: string | null;

  @ApiProperty({ type: 'boolean' })
  googleEnabled: boolean;

  @ApiProperty({ type: 'boolean' })
  registrationOpen: boolean;

  static from(details: ConsentDetails, googleEnabled: boolean, registrationOpen: boolean): ConsentDetailsResponse {
    const { authorization, memberships, state, viewer, blockedBy, guestAvailable } = details;
    const { id, client, redirectUri, requestedGrant, expiresAt } = authorization;
    return Object.assign(new ConsentDetailsResponse(), {
      ...{ id, state, client, redirectHost: redirectHost(redirectUri), requestedGrant },
      expiresAt: expiresAt.toISOString(),
      viewer,
      accounts: memberships.map(({ organization, role }) => ({ id: organization.id, name: organization.name, role })),
      ...{ blockedBy, guestAvailable, guestExpiresAt: null, googleEnabled, registrationOpen },
    });
  }
}

export class ConsentRedirectResponse {
  @ApiProperty({ type: 'string', description: 'Where to send the browser. Idempotent.' })
  redirect: string;

  static to(redirect: string): ConsentRedirectResponse {
    return Object.assign(new ConsentRedirectResponse(), { redirect });
  }
}
