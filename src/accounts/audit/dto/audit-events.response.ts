import { ApiProperty } from '@nestjs/swagger';
import { nextBeforeId } from '../../../common/fields/list-fields.js';
import {
  ACTION_SOURCES,
  type ActionSource,
  CREDENTIAL_TYPES,
  type CredentialType,
} from '../../access/admin-principal.js';
import type { AuditDetails } from '../audit-event.entity.js';
import type { AuditEventFacets, AuditEventRow } from '../audit-events.repository.js';
import type { AuditEventPage } from '../audit-trail.js';
import type { AuditedValue } from '../audited-changes.rules.js';

class AuditActorResponse {
  @ApiProperty({ type: 'string', enum: ['user'] })
  type: 'user';

  @ApiProperty({ type: 'string' })
  id: string;

  @ApiProperty({ type: 'string', enum: ['human', 'service'] })
  kind: 'human' | 'service';

  @ApiProperty({ type: 'string', nullable: true, description: 'The session or key; null before the first one.' })
  credential_id: string | null;

  @ApiProperty({ type: 'string', enum: [...ACTION_SOURCES], description: 'As the client identified itself.' })
  action_source: ActionSource;

  @ApiProperty({ type: 'string', nullable: true, description: 'The current name.' })
  name: string | null;
}

class AuditTargetResponse {
  @ApiProperty({ type: 'string', example: 'app' })
  type: string;

  @ApiProperty({ type: 'string', description: 'Its id; it may be deleted.' })
  id: string;
}

const VALUES = [
  { type: 'string' },
  { type: 'number' },
  { type: 'boolean' },
  { type: 'array', items: { nullable: true, oneOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] } },
];

export class AuditedChangeResponse {
  @ApiProperty({ type: 'string', example: 'limits.per_user.requests.per_day' })
  path: string;

  @ApiProperty({ nullable: true, oneOf: VALUES, description: 'The old value; null: absent, or not recorded.' })
  from: AuditedValue;

  @ApiProperty({ nullable: true, oneOf: VALUES, description: 'The new value; null: absent, or not recorded.' })
  to: AuditedValue;

  @ApiProperty({
    type: 'boolean',
    description: 'True when the values are not recorded because they can hold secrets or prompts.',
  })
  redacted: boolean;
}

export class AuditEventResponse {
  @ApiProperty({ type: 'integer', description: 'Increases with time; the cursor of the list.' })
  id: number;

  @ApiProperty({ type: 'string', description: 'What was changed, and how.', example: 'app.created' })
  action: string;

  @ApiProperty({ type: AuditActorResponse })
  actor: AuditActorResponse;

  @ApiProperty({ type: 'string', enum: [...CREDENTIAL_TYPES] })
  credential_type: CredentialType;

  @ApiProperty({ type: AuditTargetResponse })
  target: AuditTargetResponse;

  @ApiProperty({ type: 'string', nullable: true, description: 'The application it belongs to.' })
  app_id: string | null;

  @ApiProperty({
    type: 'object',
    nullable: true,
    additionalProperties: { oneOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }, { type: 'null' }] },
    description: 'Details by action; never a secret.',
  })
  details: AuditDetails | null;

  @ApiProperty({
    type: [AuditedChangeResponse],
    description: 'Old and new values of changed configuration, at most 200; those with values first.',
  })
  changes: AuditedChangeResponse[];

  @ApiProperty({ type: 'string', format: 'date-time' })
  created_at: string;

  static from(row: AuditEventRow): AuditEventResponse {
    const { actor_id: id, actor_kind: kind, credential_id, action_source, actor_name: name } = row;
    return Object.assign(new AuditEventResponse(), {
      id: Number(row.id),
      action: row.action,
      actor: { type: 'user', id, kind, credential_id, action_source, name },
      credential_type: row.credential_type,
      target: { type: row.target_type, id: row.target_id },
      app_id: row.app_id,
      details: row.details,
      changes: row.changes ?? [],
      created_at: row.created_at.toISOString(),
    });
  }
}

class AuditedPersonResponse {
  @ApiProperty({ type: 'string' })
  id: string;

  @ApiProperty({ type: 'string', enum: ['human', 'service'] })
  kind: 'human' | 'service';

  @ApiProperty({ type: 'string', nullable: true, description: 'The current name.' })
  name: string | null;
}

export class AuditFacetsResponse {
  @ApiProperty({ type: 'array', items: { type: 'string' }, description: 'In alphabetical order.' })
  actions: string[];

  @ApiProperty({ type: [AuditedPersonResponse], description: 'By name.' })
  actors: AuditedPersonResponse[];

  static from(facets: AuditEventFacets): AuditFacetsResponse {
    return Object.assign(new AuditFacetsResponse(), facets);
  }
}

export class AuditEventsResponse {
  @ApiProperty({ type: 'integer' })
  limit: number;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Null: there are no older events.' })
  next_before_id: number | null;

  @ApiProperty({ type: [AuditEventResponse], description: 'Newest first.' })
  events: AuditEventResponse[];

  static from({ limit, events }: AuditEventPage): AuditEventsResponse {
    return Object.assign(new AuditEventsResponse(), {
      limit,
      next_before_id: nextBeforeId(events, limit),
      events: events.map(AuditEventResponse.from),
    });
  }
}
