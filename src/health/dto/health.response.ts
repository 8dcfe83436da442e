import { ApiProperty } from '@nestjs/swagger';

/** Why `readyz` answers 503. */
export const NOT_READY_REASONS = ['stopping', 'database', 'vault', 'journal', 'redis'] as const;

export class HealthResponse {
  @ApiProperty({ type: 'boolean', example: true })
  ok: boolean;

  @ApiProperty({ type: 'string', example: 'gateway' })
  service: string;

  @ApiProperty({ type: 'string', enum: ['ok', 'misconfigured'] })
  vault: 'ok' | 'misconfigured';
}

export class ReadinessResponse {
  @ApiProperty({ type: 'boolean', description: 'True when this instance can take calls.' })
  ready: boolean;

  @ApiProperty({
    type: 'string',
    enum: [...NOT_READY_REASONS, null],
    nullable: true,
    description:
      'Why it is not ready; null when it is. Stopping: it accepts calls for another `STOP_DELAY_SECONDS`. Otherwise the first failing part.',
  })
  reason: (typeof NOT_READY_REASONS)[number] | null;

  @ApiProperty({ type: 'string', enum: ['ok', 'unreachable'] })
  database: 'ok' | 'unreachable';

  @ApiProperty({ type: 'string', enum: ['ok', 'misconfigured'] })
  vault: 'ok' | 'misconfigured';

  @ApiProperty({ type: 'string', enum: ['ok', 'full', 'failed'] })
  journal: 'ok' | 'full' | 'failed';

  @ApiProperty({
    type: 'string',
    enum: ['connected', 'polling'],
    description: 'How configuration changes are received.',
  })
  configChanges: 'connected' | 'polling';

  @ApiProperty({
    type: 'string',
    enum: ['ok', 'lost', 'unused', 'other'],
    description:
      'Lost: each instance counts address limits for itself. Other: `REDIS_URL` is another Redis than that of the running instances.',
  })
  redis: 'ok' | 'lost' | 'unused' | 'other';

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    description: 'Instances that use this database, this one included, as this one sees it.',
  })
  instances: number;

  @ApiProperty({
    type: 'string',
    enum: ['ok', 'differs'],
    description:
      "Differs: this machine's clock is more than 2 s off the time that all instances share, which everything uses.",
  })
  clock: 'ok' | 'differs';

  @ApiProperty({
    type: 'string',
    enum: ['ok', 'degraded'],
    description: 'Degraded: request limits are counted without Redis, each instance within its share.',
  })
  limits: 'ok' | 'degraded';
}
