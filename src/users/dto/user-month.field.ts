import { Text } from '../../common/fields/fields.js';

const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;

/** The month whose usage is answered. Source: contract-admin 0.2. */
export function UserMonth(): PropertyDecorator {
  return Text({
    max: 7,
    pattern: MONTH,
    patternText: 'a month such as 2026-01',
    optional: true,
    description: 'UTC month of the usage; the current one when absent.',
  });
}
