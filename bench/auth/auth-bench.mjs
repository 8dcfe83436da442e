/** The two suites of authentication, `token` and `exchange`: a gateway, and everybody who proves something to it. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { addApp, addProvider, launchGateway } from '../gateway.mjs';
import { LoadGenerator } from '../load-generator.mjs';
import { startUpstream } from '../party.mjs';
import { measureExchange } from './measure-exchange.mjs';
import { measureToken } from './measure-token.mjs';

/** @param {{ dir: string, rounds: number, seconds: number, wants: Set<string>, verdicts: object }} bench */
export async function measureAuthentication(bench) {
  const phones = await LoadGenerator.start('auth/phones.mjs');
  const { rootPem, ...authentications } = await phones.run('introduce', {});
  const rootFile = path.join(bench.dir, 'vendor-root.pem');
  writeFileSync(rootFile, rootPem);
  const upstream = await startUpstream();
  const gateway = await launchGateway(bench.dir, {
    APP_ATTEST_ROOT_CA_FILE: rootFile,
    TRUSTED_PROXIES: '127.0.0.1/32',
  });
  await addProvider(gateway, upstream.port);
  const parties = {
    ...bench,
    upstream,
    gateway,
    phones,
    authentications,
    addApp: (...args) => addApp(gateway, ...args),
  };
  if (bench.wants.has('token')) await measureToken(parties);
  if (bench.wants.has('exchange')) await measureExchange(parties);
  return [{ name: 'this gateway' }];
}
