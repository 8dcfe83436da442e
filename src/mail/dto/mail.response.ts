import { ApiProperty } from '@nestjs/swagger';
import type { MailChoice } from '../mail-subscriptions.service.js';

class MailResource {
  @ApiProperty({ type: 'boolean', description: 'False: the gateway has no `SMTP_URL`, so no mail is sent.' })
  configured: boolean;

  @ApiProperty({ type: 'string', nullable: true, description: 'Where your mails go; null: you have no address.' })
  address: string | null;

  @ApiProperty({
    type: 'array',
    items: { type: 'string' },
    nullable: true,
    description: 'Which events of this account are mailed to you. Empty: none. Null: every event.',
  })
  events: readonly string[] | null;
}

export class MailResponse {
  @ApiProperty({ type: MailResource })
  mail: MailResource;

  static from({ isConfigured, address, events }: MailChoice): MailResponse {
    const mail = Object.assign(new MailResource(), { configured: isConfigured, address, events });
    return Object.assign(new MailResponse(), { mail });
  }
}
