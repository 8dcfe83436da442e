import { ApiProperty } from '@nestjs/swagger';
import { ACTION_SOURCES, type ActionSource } from '../../accounts/access/admin-principal.js';
import type { AuditDetails } from '../../accounts/audit/audit-event.entity.js';
import { AuditedChangeResponse } from '../../accounts/audit/dto/audit-events.response.js';
import { Dollars } from '../../common/http/openapi.decorators.js';

class EventActor {
  @ApiProperty({ type: 'string' })
  id: string;

  @ApiProperty({ type: 'string', enum: ['human', 'service'] })
  kind: 'human' | 'service';

  @ApiProperty({ type: 'string', enum: [...ACTION_SOURCES], description: 'As the client identified itself.' })
  source: ActionSource;
}

class EventTarget {
  @ApiProperty({ type: 'string', example: 'app_key' })
  type: string;

  @ApiProperty({ type: 'string', description: 'It may be deleted.', example: 'key_0a1b2c3d4e5f6g7h8i9j' })
  id: string;
}

/** Of events that the audit trail has too. */
export class AuditedEventData {
  @ApiProperty({ type: 'string', example: 'account-4f0c2a' })
  account: string;

  @ApiProperty({ type: 'string', nullable: true, description: 'Null: not about an application.' })
  app: string | null;

  @ApiProperty({ type: EventActor })
  actor: EventActor;

  @ApiProperty({ type: EventTarget })
  target: EventTarget;

  @ApiProperty({
    type: 'object',
    nullable: true,
    additionalProperties: { oneOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }, { type: 'null' }] },
    description: 'Details by type; never a secret.',
  })
  details: AuditDetails | null;

  @ApiProperty({
    type: [AuditedChangeResponse],
    nullable: true,
    description: 'Old and new values of changed configuration, at most 200; those with values first.',
  })
  changes: readonly AuditedChangeResponse[] | null;
}

/** Of events about an application. */
class AppEventData {
  @ApiProperty({ type: 'string', example: 'account-4f0c2a' })
  account: string;

  @ApiProperty({ type: 'string' })
  app: string;
}

const BUDGET_SCOPES = ['user', 'app', 'group', 'run'] as const;
const BUDGET_WINDOWS = ['day', 'week', 'month', 'total', 'run'] as const;

export class BudgetEventData extends AppEventData {
  @ApiProperty({ type: 'string', enum: [...BUDGET_SCOPES] })
  scope: (typeof BUDGET_SCOPES)[number];

  @ApiProperty({ type: 'string', nullable: true, description: 'The name of the kind of group; null for other scopes.' })
  group: string | null;

  @ApiProperty({ type: 'string', description: 'Of the user, application, group or run.', example: 'customer-4711' })
  id: string;

  @ApiProperty({ type: 'string', enum: [...BUDGET_WINDOWS] })
  window: (typeof BUDGET_WINDOWS)[number];

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    nullable: true,
    description: 'Of a run, when it began; null for `total`.',
  })
  period_start: string | null;

  @ApiProperty({ type: 'number', minimum: 0, description: 'Part of the budget; 1 for `budget.exhausted`.' })
  threshold: number;

  @Dollars('the budget.')
  budget_usd: number;

  @Dollars('the amount spent in the window, without estimates.')
  spent_usd: number;

  @Dollars('estimates for calls of unknown cost.')
  estimated_usd: number;
}

export class LimitEventData extends AppEventData {
  @ApiProperty({ type: 'string', enum: ['user', 'group', 'app'] })
  scope: 'user' | 'group' | 'app';

  @ApiProperty({
    type: 'string',
    description: 'Of the user or application; of a group `<name>:<value>`.',
    example: 'customer-4711',
  })
  id: string;

  @ApiProperty({ type: 'string', enum: ['requests', 'tokens'] })
  limit: 'requests' | 'tokens';

  @ApiProperty({ type: 'string', enum: ['minute', 'day'] })
  window: 'minute' | 'day';

  @ApiProperty({ type: 'string', format: 'date-time', description: 'Start of the UTC minute or day.' })
  period_start: string;
}

class EventProvider {
  @ApiProperty({ type: 'string' })
  id: string;

  @ApiProperty({ type: 'string' })
  slug: string;

  @ApiProperty({ type: 'string', example: 'OpenAI' })
  name: string;
}

export class ProviderEventData {
  @ApiProperty({ type: 'string', example: 'account-4f0c2a' })
  account: string;

  @ApiProperty({ type: EventProvider })
  provider: EventProvider;

  @ApiProperty({
    type: 'string',
    enum: ['key_refused', 'errors'],
    description: 'Why it is or was failing. `key_refused`: it refused the stored key. `errors`: calls failed.',
  })
  reason: 'key_refused' | 'errors';

  @ApiProperty({ type: 'integer', minimum: 1, description: 'The calls that determined it.' })
  calls: number;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'The failed ones.' })
  errors: number;
}

export class RisingEventData extends AppEventData {
  @ApiProperty({ type: 'string', format: 'date-time', description: 'Start of the hour.' })
  period_start: string;

  @ApiProperty({ type: 'integer', minimum: 20, description: 'In this hour so far.' })
  count: number;

  @ApiProperty({ type: 'number', minimum: 0, description: 'Mean of the same hour of the last seven days.' })
  usual: number;
}

export class DeviceEventData extends AppEventData {
  @ApiProperty({ type: 'string', description: 'Of the user.', example: 'customer-4711' })
  user: string;

  @ApiProperty({ type: 'string', description: 'Of the device key.', example: 'wG2Yh0pTz5m1sQe7' })
  device: string;

  @ApiProperty({
    type: 'string',
    enum: ['device_limit', 'certificate_revoked'],
    description:
      '`device_limit`: the user registered more than 20 devices; this one was used least recently. ' +
      '`certificate_revoked`: the vendor of Android revoked or suspended a certificate of the key.',
  })
  reason: 'device_limit' | 'certificate_revoked';
}

export class TestEventData {
  @ApiProperty({ type: 'string', example: 'account-4f0c2a' })
  account: string;

  @ApiProperty({ type: 'string', example: 'wh_0a1b2c3d4e5f6g7h8i9j' })
  webhook: string;
}
