import { ApiProperty } from '@nestjs/swagger';
import { GATEWAY_TOKEN_LIFETIME_SECONDS } from '../../callers/gateway-token.rules.js';
import { CHALLENGE_LIFETIME_SECONDS } from '../../devices/challenges.repository.js';
import type { GatewayToken } from '../token-exchange.service.js';

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
  @ApiProperty({ type: 'string', description: 'The user the key now belongs to.' })
  user_id: string;

  static from(userId: string): RegistrationResponse {
    return Object.assign(new RegistrationResponse(), { user_id: userId });
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

  static from({ token, lifetimeSeconds }: GatewayToken): GatewayTokenResponse {
    return Object.assign(new GatewayTokenResponse(), {
      access_token: token,
      expires_in: lifetimeSeconds,
    });
  }
}
