import Sequencer from '@jest/test-sequencer';

const isUnit = ({ context }) => context.config.displayName.name === 'unit';

/**
 * Jest begins with the suites that took longest, or with the largest files where it does not know yet. Units come after all
 * others: hundreds of short ones keep every worker busy until the last long suite ends.
 */
export default class UnitsLast extends Sequencer {
  sort(tests) {
    return super.sort(tests).toSorted((one, other) => isUnit(one) - isUnit(other));
  }
}
