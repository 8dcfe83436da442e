import { ApiExtraModels, getSchemaPath } from '@nestjs/swagger';
import { DeviceProofsAuthentication } from '../../../app-directory/config/authentication-config.js';
import { Int, JsonObject } from '../../../common/fields/fields.js';

const MAX_DAYS = 30;

@ApiExtraModels(DeviceProofsAuthentication)
export class EnforcementPreviewRequest {
  @JsonObject({
    schema: { allOf: [{ $ref: getSchemaPath(DeviceProofsAuthentication) }] },
    optional: true,
    description: 'As in a configuration, of type `device_proofs`; absent: the stored one with every proof enforced.',
  })
  readonly authentication?: object;

  @Int({ min: 1, max: MAX_DAYS, optional: true, description: `UTC days, today included; ${MAX_DAYS} when absent.` })
  readonly days?: number;

  chosenDays(): number {
    return this.days ?? MAX_DAYS;
  }
}
