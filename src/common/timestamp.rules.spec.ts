import { describe, expect, it } from '@jest/globals';
import { isTimestamp } from './timestamp.rules.js';

describe('isTimestamp', () => {
  it.each(['2027-01-31T12:00:00Z', '2028-02-29t23:59:59.123456789z', '2027-01-31T12:00:00.5+05:30'])(
    '%s → true',
    (text) => expect(isTimestamp(text)).toBe(true),
  );

  it.each([
    ...['2027-01-31', '2027-01-31T12:00:00', '2027-01-31 12:00:00Z', '2027-02-29T12:00:00Z', '2027-13-01T00:00:00Z'],
    ...['2027-01-31T24:00:00Z', '2027-01-31T12:00:60Z', '2027-01-31T12:00:00+24:00', '+012027-01-31T12:00:00Z', ''],
    ...[
      '2027-01-31T12:00:00Z\n',
      '9999-12-31T23:59:59-00:01',
      '0000-01-01T00:00:00+00:01',
      'tomorrow',
      '1790000000000',
    ],
  ])('%j → false', (text) => expect(isTimestamp(text)).toBe(false));
});
