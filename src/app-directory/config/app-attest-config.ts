import { ApiSchema } from '@nestjs/swagger';
import { DOTTED_NUMBERS } from '../../common/dotted-version.rules.js';
import { Default, Required } from '../../common/fields/config-fields.js';
import { described, distinctWords, text } from '../../common/fields/config-values.js';

const ENVIRONMENTS = ['production', 'development'] as const;
const DEFAULT_ENVIRONMENTS: readonly AttestEnvironment[] = ['production'];
const MAX_BUNDLE_ID_LENGTH = 255;
const BUNDLE_ID = /^[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$/;

/** A minimum version of an app. */
export const dottedNumbers = described(
  { type: 'string', pattern: DOTTED_NUMBERS.source },
  text({ pattern: DOTTED_NUMBERS, problem: 'must be dotted numbers such as 2.10.3' }),
);

/** Environment of a device key. */
export type AttestEnvironment = (typeof ENVIRONMENTS)[number];

/** The mobile application of a device key. */
@ApiSchema({ name: 'AppAttest' })
export class AppAttest {
  @Required(text({ pattern: /^[A-Z0-9]{10}$/, problem: 'must be ten capital letters or digits' }))
  readonly team_id: string;

  @Required(
    described(
      { type: 'string', pattern: BUNDLE_ID.source, maxLength: MAX_BUNDLE_ID_LENGTH },
      text({
        max: MAX_BUNDLE_ID_LENGTH,
        pattern: BUNDLE_ID,
        problem: 'must be a bundle identifier such as com.example.app',
      }),
    ),
  )
  readonly bundle_id: string;

  /** At least one, no duplicates. */
  @Default(distinctWords(ENVIRONMENTS, 'must not name an environment twice'), DEFAULT_ENVIRONMENTS, {
    showDefault: true,
  })
  readonly environments: readonly AttestEnvironment[];
}
