import { GuardedRequest } from '../../../dist/src/platform/outbound/guarded-request.js';
import { parseTrustedHosts } from '../../../dist/src/platform/outbound/trusted-hosts.rules.js';

// A process that says with which status an address of this machine answers the gateway, or why it does not.
const outbound = new GuardedRequest({ trustedHosts: parseTrustedHosts('127.0.0.1') });
const answer = await outbound
  .get(process.argv[2], { timeoutMs: 60_000, maxBytes: 100_000 })
  .then(({ status }) => ({ status }))
  .catch((error) => ({ reason: error.reason, cause: String(error.cause?.code) }));
await outbound.close();
process.stdout.write(JSON.stringify(answer));
