import { ApiProperty } from '@nestjs/swagger';
import { GATEWAY_DOUBTS, type GatewayDoubt, type GatewayProbeOutcome } from '../gateway-probe.service.js';

export class ProviderGatewayTestResponse implements GatewayProbeOutcome {
  @ApiProperty({ type: 'boolean', description: 'True when the gateway accepted the token.' })
  validated: boolean;

  @ApiProperty({
    type: 'string',
    enum: [...GATEWAY_DOUBTS],
    required: false,
    description: '`rejected` is the gateway’s 401 or 403; absent when validated.',
  })
  reason?: GatewayDoubt;

  @ApiProperty({
    type: 'integer',
    required: false,
    description: 'The gateway’s status; absent when validated or unreachable.',
  })
  status?: number;

  static from(outcome: GatewayProbeOutcome): ProviderGatewayTestResponse {
    return Object.assign(new ProviderGatewayTestResponse(), outcome);
  }
}
