/**
 * Mixed traffic on two instances while Redis and Postgres come and go: `npm run soak -- [--minutes N] [--seed S]`. Prints
 * answers, faults and the memory of each instance on one line of JSON. Linux; needs `redis-server` on the PATH.
 */
import { prove, readProof } from './prove.mjs';

const { howMuch, seed } = readProof('minutes', '60');
await prove('e2e', ['test/e2e/platform/soak.e2e-spec.ts'], { SOAK_MINUTES: howMuch, SOAK_SEED: seed });
