/** The two suites of named endpoints, `endpoint` and `fallback`: a gateway, and a provider that answers at once. */
import { addProvider, launchGateway } from '../gateway.mjs';
import { LoadGenerator } from '../load-generator.mjs';
import { startUpstream } from '../party.mjs';
import { measureEndpoint } from './measure-endpoint.mjs';
import { measureFallback } from './measure-fallback.mjs';

/** @param {{ dir: string, rounds: number, seconds: number, wants: Set<string>, verdicts: object }} bench */
export async function measureEndpoints(bench) {
  const load = await LoadGenerator.start();
  const upstream = await startUpstream();
  const gateway = await launchGateway(bench.dir);
  await addProvider(gateway, upstream.port);
  const parties = { ...bench, load, gateway };
  if (bench.wants.has('endpoint')) await measureEndpoint(parties);
  if (bench.wants.has('fallback')) await measureFallback(parties);
  return [{ name: 'this gateway' }];
}
