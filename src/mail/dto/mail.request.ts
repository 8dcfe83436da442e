import { JsonValue } from '../../common/fields/fields.js';
import { FILTER_SCHEMA } from '../../webhooks/webhook.rules.js';

export class UpdateMailRequest {
  @JsonValue({
    schema: { ...FILTER_SCHEMA, minItems: 0, nullable: true },
    nullable: true,
    description: 'Types such as `app_key.created`, or prefixes such as `app_key.*`. Empty: no mail. Null: every event.',
  })
  events: unknown;
}
