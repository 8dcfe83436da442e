import { ApiProperty } from '@nestjs/swagger';

export class SocialSignInResponse {
  @ApiProperty({ type: 'string', format: 'uri' })
  url: string;

  @ApiProperty({ type: 'boolean', description: 'False when `disableRedirect` was sent.' })
  redirect: boolean;

  static from(url: string, redirect: boolean): SocialSignInResponse {
    return Object.assign(new SocialSignInResponse(), { url, redirect });
  }
}
