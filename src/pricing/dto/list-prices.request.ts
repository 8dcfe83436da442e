import { Day } from '../../common/fields/list-fields.js';

export class ListPricesRequest {
  @Day('UTC day of the prices; today when absent.')
  day?: string;
}
