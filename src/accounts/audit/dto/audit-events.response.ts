import { ApiProperty } from '@nestjs/swagger';
import { nextBeforeId } from '../../../common/fields/list-fields.js';
import {
  ACTION_SOURCES,
  type ActionSource,
  CREDENTIAL_TYPES,
  type CredentialType,
} from '../../access/admin-principal.js';
import type { AuditDetails } from '../audit-event.entity.js';
import type { AuditEventRow } from '../audit-events.repository.js';
import type { AuditEventPage } from '../audit-trail.js';

class AuditActorResponse {
  @ApiProperty({ type: 'string', enum: ['user'] })
  type: 'user';

  @ApiProperty({ type: 'string' })
  id: string;

  @ApiProperty({ type: 'string', enum: ['human', 'service'] })
  kind: 'human' | 'service';

  @ApiProperty({ type: 'string', nullable: true, description: 'The session or key; null before the first one.' })
  credential_id: string | null;

  @ApiProperty({ type: 'string', enum: [...ACTION_SOURCES], description: 'As the client labelled itself.' })
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
      created_at: row.created_at.toISOString(),
    });
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
