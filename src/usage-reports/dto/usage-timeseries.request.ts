import { Day } from '../../common/fields/list-fields.js';

export class UsageTimeseriesRequest {
  @Day('First UTC day; 29 days before the last one when absent.')
  from?: string;

  @Day('Last UTC day, inclusive; today when absent.')
  to?: string;
}
