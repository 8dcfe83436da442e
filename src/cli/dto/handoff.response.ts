import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { ROLES, type Role } from '../../accounts/access/admin-principal.js';
import { OrganizationResource } from '../../accounts/organizations/dto/organizations.response.js';
import type { Approved, HandoffBlock, HandoffDetails } from '../handoff/handoff.service.js';
import { OPERATION_KINDS, type OperationKind } from '../operations/operation.rules.js';
import type { OperationRow } from '../operations/operations.repository.js';

/** The member of the payload that shows the resource; `snapshot` for every other kind. */
const SNAPSHOTS: Partial<Record<OperationKind, string>> = { 'provider-gateway.rotate-key': 'gatewaySnapshot' };

export class LookupResponse {
  @ApiProperty({ type: 'boolean' })
  found: boolean;

  @ApiProperty({ type: 'string', required: false })
  id?: string;

  @ApiProperty({ type: 'string', enum: [...OPERATION_KINDS], required: false })
  kind?: OperationKind;

  @ApiProperty({ type: 'string', format: 'date-time', required: false })
  expiresAt?: string;

  static from(operation: OperationRow | undefined): LookupResponse {
    if (operation === undefined) return Object.assign(new LookupResponse(), { found: false });
    const { id, kind, expiresAt } = operation;
    return Object.assign(new LookupResponse(), { found: true, id, kind, expiresAt: expiresAt.toISOString() });
  }
}

class HandoffViewer {
  @ApiProperty({ type: 'string', nullable: true })
  name: string | null;

  @ApiProperty({ type: 'string', nullable: true })
  email: string | null;
}

class HandoffClient {
  @ApiProperty({ type: 'string', description: 'The terminal’s own label.' })
  label: string;

  @ApiProperty({ type: 'string', nullable: true })
  os: string | null;

  @ApiProperty({ type: 'string', nullable: true, description: 'The address of the request; of IPv6, its network.' })
  ip: string | null;

  @ApiProperty({ type: 'string', format: 'date-time' })
  requestedAt: string;
}

class HandoffAccount {
  @ApiProperty({ type: 'string' })
  id: string;

  @ApiProperty({ type: 'string' })
  name: string;

  @ApiProperty({ type: 'string', enum: [...ROLES] })
  role: Role;
}

@ApiExtraModels(OrganizationResource, HandoffViewer, HandoffClient)
export class HandoffDetailsResponse {
  @ApiProperty({ type: 'string', enum: [...OPERATION_KINDS] })
  kind: OperationKind;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description:
      'The requested change, without secrets; with `snapshot` or `gatewaySnapshot`, the resource it changes.',
  })
  payload: object;

  @ApiProperty({
    anyOf: [{ $ref: getSchemaPath(OrganizationResource) }, { type: 'null' }],
    description: 'Its account; null for a login, whose account the person chooses.',
  })
  account: OrganizationResource | null;

  @ApiProperty({
    anyOf: [{ $ref: getSchemaPath(HandoffViewer) }, { type: 'null' }],
    description: 'Who is signed in.',
  })
  viewer: HandoffViewer | null;

  @ApiProperty({
    type: 'string',
    enum: ['registration_required', 'sign_out_required', 'no_eligible_organization', null],
    nullable: true,
    description: 'What the viewer must do first.',
  })
  blockedBy: HandoffBlock;

  @ApiProperty({ type: 'boolean' })
  googleEnabled: boolean;

  @ApiProperty({ type: 'string', format: 'date-time' })
  expiresAt: string;

  @ApiProperty({ type: 'string', nullable: true, description: 'To compare with the one in the terminal.' })
  userCode: string | null;

  @ApiProperty({ anyOf: [{ $ref: getSchemaPath(HandoffClient) }, { type: 'null' }] })
  client: HandoffClient | null;

  @ApiProperty({ type: 'boolean', description: 'Whether the browser is redirected to a listener of the terminal.' })
  hasLoopbackRedirect: boolean;

  @ApiProperty({ type: [HandoffAccount], required: false, description: 'The accounts that a login can choose.' })
  organizations?: HandoffAccount[];

  static from(details: HandoffDetails, googleEnabled: boolean): HandoffDetailsResponse {
    const { operation, account, snapshot, viewer, blockedBy, userCode, memberships } = details;
    const { kind, payload, client, address, createdAt, expiresAt, loopbackRedirect } = operation;
    const organizations = memberships.map(({ organization: { id, name }, role }) => ({ id, name, role }));
    return Object.assign(new HandoffDetailsResponse(), {
      ...{ kind, viewer, blockedBy, googleEnabled, userCode },
      payload: { ...payload, ...(snapshot === undefined ? {} : { [SNAPSHOTS[kind] ?? 'snapshot']: snapshot }) },
      account: account && OrganizationResource.from(account),
      expiresAt: expiresAt.toISOString(),
      client: client && { ...client, ip: address, requestedAt: createdAt.toISOString() },
      hasLoopbackRedirect: loopbackRedirect !== null,
      ...(kind === 'login' ? { organizations } : {}),
    });
  }
}

export class SubmittedHandoffResponse {
  @ApiProperty({ type: 'string', enum: ['completed'] })
  state: 'completed';

  @ApiProperty({ type: 'string', description: 'For the person.' })
  message: string;

  @ApiProperty({ type: 'string', enum: ['cli', 'console'], description: 'Where the person continues.' })
  continueTo: 'cli' | 'console';

  @ApiProperty({ type: 'string', required: false, description: 'The terminal’s listener: redirect the browser to it.' })
  redirectUrl?: string;

  static from({ message, continueTo, redirectUrl }: Approved): SubmittedHandoffResponse {
    return Object.assign(new SubmittedHandoffResponse(), {
      ...{ state: 'completed', message, continueTo },
      ...(redirectUrl === null ? {} : { redirectUrl }),
    });
  }
}

export class DeniedHandoffResponse {
  @ApiProperty({ type: 'string', enum: ['denied'] })
  state: 'denied';

  @ApiProperty({ type: 'string', description: 'For the person.' })
  message: string;

  static done(): DeniedHandoffResponse {
    return Object.assign(new DeniedHandoffResponse(), { state: 'denied', message: 'Declined. Nothing was changed.' });
  }
}
