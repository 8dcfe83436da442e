import { ApiProperty } from '@nestjs/swagger';
import { GATEWAY_TOKEN_LIFETIME_SECONDS } from '../../callers/gateway-token.rules.js';
import { CHALLENGE_LIFETIME_SECONDS } from '../../devices/challenges.repository.js';
import type { AdmittedDevice } from '../device-exchange.service.js';
import type { GatewayToken } from '../token-exchange.service.js';

const NONE = { proof: 'none' } as const;

function NoProof() {
  return ApiProperty({
    type: 'string',
    enum: ['none'],
    required: false,
    description: 'Present if the proof failed but its mode admits the device; no key is registered.',
  });
}

export class ChallengeResponse {
  @ApiProperty({ type: 'string', description: 'base64url of 32 random bytes; valid once, for this application.' })
  challenge: string;

  @ApiProperty({ type: 'integer', description: 'Seconds.', example: CHALLENGE_LIFETIME_SECONDS })
  expires_in: number;

  static from(challenge: string): ChallengeResponse {
    return Object.assign(new ChallengeResponse(), { challenge, expires_in: CHALLENGE_LIFETIME_SECONDS });
  }
}

export class RegistrationResponse {
  @ApiProperty({
    type: 'string',
    description: 'The user that the key now belongs to; with `proof`, an identity for this registration only.',
  })
  user_id: string;

  @NoProof()
  proof?: 'none';

  static from({ userId, unproven }: AdmittedDevice): RegistrationResponse {
    return Object.assign(new RegistrationResponse(), { user_id: userId, ...(unproven && NONE) });
  }
}

export class GatewayTokenResponse {
  @ApiProperty({ type: 'string', description: 'The credential of calls to providers; opaque.' })
  access_token: string;

  @ApiProperty({
    type: 'integer',
    description: 'Seconds; 1800 for key attestation.',
    example: GATEWAY_TOKEN_LIFETIME_SECONDS,
  })
  expires_in: number;

  @NoProof()
  proof?: 'none';

  static from({ token, lifetimeSeconds, isUnproven }: GatewayToken): GatewayTokenResponse {
    return Object.assign(new GatewayTokenResponse(), {
      access_token: token,
      expires_in: lifetimeSeconds,
      ...(isUnproven && NONE),
    });
  }
}
