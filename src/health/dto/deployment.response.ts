import { ApiProperty } from '@nestjs/swagger';
import { HEALTH_PARTS, type HealthPart } from '../history/health-history.rules.js';
import { ReadinessResponse } from './health.response.js';

export class DeploymentInstanceResponse {
  @ApiProperty({ type: 'string' })
  id: string;

  @ApiProperty({ type: 'boolean', description: 'Whether it answered this request.' })
  current: boolean;

  @ApiProperty({ type: 'string', description: 'Name of its machine.' })
  host: string;

  @ApiProperty({ type: 'integer', description: 'Its process.' })
  pid: number;

  @ApiProperty({ type: 'string' })
  version: string;

  @ApiProperty({ type: 'string', format: 'date-time' })
  startedAt: string;

  @ApiProperty({
    type: 'boolean',
    description: 'Whether it uses Redis, and reached it at its last heartbeat.',
  })
  redisAnswers: boolean;

  @ApiProperty({
    type: 'integer',
    description: 'How far the clock of its machine is ahead of the shared time, in milliseconds; negative: behind.',
  })
  clockAheadMs: number;
}

export class MaintenanceRunResponse {
  @ApiProperty({ type: 'string', format: 'date-time' })
  startedAt: string;

  @ApiProperty({ type: 'string', format: 'date-time' })
  endedAt: string;

  @ApiProperty({
    type: 'string',
    enum: ['done', 'failed', 'stopped'],
    description: 'Failed: at least one step failed; see the log. Stopped: the next run continues.',
  })
  outcome: 'done' | 'failed' | 'stopped';
}

export class DeploymentPricesResponse {
  @ApiProperty({
    type: 'string',
    enum: ['built_in', 'file'],
    description: 'File: `PRICES_FILE` replaces prices of the catalog or adds to them.',
  })
  source: 'built_in' | 'file';

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    nullable: true,
    description: 'When the version of the file in force was modified; null without a file.',
  })
  date: string | null;
}

export class DeploymentSettingResponse {
  @ApiProperty({ type: 'string' })
  name: string;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'Its value; `set` instead of a secret; null where it is not set and has no default.',
  })
  value: string | null;
}

export class PartHistoryResponse {
  @ApiProperty({ type: 'string', enum: [...HEALTH_PARTS], description: 'A member of `readiness`.' })
  part: HealthPart;

  @ApiProperty({
    type: 'array',
    items: { type: 'number', nullable: true, minimum: 0, maximum: 1 },
    description:
      'For each slot, the oldest first, the share of the samples of all instances in which the part did not work; null where there is no sample.',
  })
  failing: (number | null)[];
}

export class HealthHistoryResponse {
  @ApiProperty({ type: 'string', format: 'date-time', description: 'Start of the first slot.' })
  since: string;

  @ApiProperty({ type: 'integer', description: 'Length of a slot in seconds.' })
  slotSeconds: number;

  @ApiProperty({ type: [PartHistoryResponse] })
  parts: PartHistoryResponse[];
}

export class DeploymentResponse {
  @ApiProperty({ type: 'string' })
  version: string;

  @ApiProperty({ type: 'string', description: 'Version of Node.' })
  node: string;

  @ApiProperty({ type: ReadinessResponse, description: 'As `GET /v1/readyz` answers it here.' })
  readiness: ReadinessResponse;

  @ApiProperty({ type: HealthHistoryResponse, description: 'The last day, the current slot included.' })
  history: HealthHistoryResponse;

  @ApiProperty({ type: [DeploymentInstanceResponse] })
  instances: DeploymentInstanceResponse[];

  @ApiProperty({ type: 'string', enum: ['embedded', 'external'] })
  database: 'embedded' | 'external';

  @ApiProperty({ type: 'integer', description: 'Events on disk that Postgres has not stored yet.' })
  pendingEvents: number;

  @ApiProperty({
    type: MaintenanceRunResponse,
    nullable: true,
    description: 'The last nightly job; null before the first one.',
  })
  maintenance: MaintenanceRunResponse | null;

  @ApiProperty({ type: DeploymentPricesResponse, description: 'Where the prices of this instance come from.' })
  prices: DeploymentPricesResponse;

  @ApiProperty({ type: [DeploymentSettingResponse], description: 'Important settings, without secrets.' })
  settings: DeploymentSettingResponse[];

  static from(deployment: DeploymentResponse): DeploymentResponse {
    return Object.assign(new DeploymentResponse(), deployment);
  }
}
