/**
 * Proves budgets with many seeds on real processes: `npm run prove-budgets -- [--runs N] [--seed S]`. Each run prints
 * what it came to on one line of JSON; a run that fails names its seed. Needs `redis-server` on the PATH and, unless
 * `DATABASE_URL` names a Postgres, starts one of its own.
 */
import { prove, readProof } from './prove.mjs';

const { howMuch, seed } = readProof('runs', '10');
await prove('e2e', ['test/e2e/budgets/budget-proof'], { BUDGET_RUNS: howMuch, BUDGET_SEED: seed });
