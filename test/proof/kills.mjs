/**
 * Kills the service under load and looks for every call in the records: `npm run prove-kills -- [--kills N] [--seed S]`.
 * Prints what it came to on one line. Starts a Postgres of its own unless `DATABASE_URL` names one.
 */
import { prove, readProof } from './prove.mjs';

const { howMuch, seed } = readProof('kills', '1000');
await prove('e2e', ['test/e2e/usage/usage-kill'], { KILLS: howMuch, KILL_SEED: seed });
