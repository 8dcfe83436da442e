import { Month } from '../../common/fields/list-fields.js';

export class MonthUsageRequest {
  @Month({ form: 'a month as YYYY-MM', description: 'UTC month.' })
  month?: string;
}
