import { ApiProperty } from '@nestjs/swagger';
import type { ProbeOutcome } from '../provider-probe.service.js';

export class ProviderTestResponse implements ProbeOutcome {
  @ApiProperty({ type: 'boolean', description: 'True when the provider accepted the key.' })
  validated: boolean;

  @ApiProperty({
    type: 'string',
    enum: ['unreachable', 'unexpected_status', 'no_probe'],
    required: false,
    description: 'Why nothing was proven; absent when validated.',
  })
  reason?: 'unreachable' | 'unexpected_status' | 'no_probe';

  @ApiProperty({ type: 'integer', required: false, description: 'The provider’s status, with `unexpected_status`.' })
  status?: number;

  static from(outcome: ProbeOutcome): ProviderTestResponse {
    return Object.assign(new ProviderTestResponse(), outcome);
  }
}
