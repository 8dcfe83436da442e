import type { AppStatus } from '../../app-directory/config/app-config.js';
import { JsonObject, OneOf, Refused, Text } from '../../common/fields/fields.js';
import { APP_CONFIG, WithAppConfig } from './app-config.schema.js';

@WithAppConfig()
export class CreateAppRequest {
  @Refused('is assigned by the service and cannot be chosen')
  readonly id?: undefined;

  @Text({ max: 100, description: 'For people; surrounding blanks are dropped.' })
  readonly name: string;

  @JsonObject({ schema: APP_CONFIG })
  readonly config: object;

  @OneOf(['active', 'disabled'], { optional: true, description: '`active` when absent.' })
  readonly status?: AppStatus;
}
