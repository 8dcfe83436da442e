import { Int } from '../../common/fields/fields.js';

const DEFAULT_DAYS = 30;
const MAX_DAYS = 365;

export class AuthEventSummaryRequest {
  @Int({ min: 1, max: MAX_DAYS, optional: true, description: `UTC days, today included; ${DEFAULT_DAYS} when absent.` })
  days?: number;

  chosenDays(): number {
    return this.days ?? DEFAULT_DAYS;
  }
}
