import { runProcess } from '../../src/bootstrap/process.js';
import { processEnvironment } from '../../src/platform/config/environment.js';
import { acmeType } from './acme-type.js';
import { hsmVault } from './hsm-vault.js';
import { ReportsModule } from './reports.module.js';

const { ACME_BASE_URL = 'https://models.acme.example.com/', HSM_URL } = processEnvironment();

await runProcess({
  imports: [ReportsModule],
  providerTypes: [acmeType(ACME_BASE_URL)],
  vault: hsmVault(HSM_URL),
});
