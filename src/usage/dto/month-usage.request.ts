import { Text } from '../../common/fields/fields.js';

const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;

export class MonthUsageRequest {
  @Text({ max: 7, pattern: MONTH, patternText: 'a month as YYYY-MM', optional: true, description: 'UTC month.' })
  month?: string;
}
