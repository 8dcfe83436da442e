import { Text, Verbatim } from '../../../common/fields/fields.js';
import { MIN_SECRET_CHARACTERS } from '../../../common/fields/secret-text.rules.js';
import { PATH_SEGMENT_PATTERN } from '../gateway-write.rules.js';

/** The display name of a gateway. */
export function GatewayName(): PropertyDecorator {
  return Text({ max: 100, description: 'For people.' });
}

/** A gateway's own credential. */
export function GatewayToken(description: string): PropertyDecorator {
  return Verbatim({ min: MIN_SECRET_CHARACTERS, max: 4096, description });
}

/** A path segment in the address of a `cf_aig` gateway. */
export function PlaceSegment(description: string): PropertyDecorator {
  return Text({
    max: 100,
    pattern: PATH_SEGMENT_PATTERN,
    patternText: '1 to 100 letters, digits, ".", "_", "~" or "-", and not only dots',
    description,
  });
}
