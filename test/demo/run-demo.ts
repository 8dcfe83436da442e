import { randomBytes } from 'node:crypto';
import { type ProviderSimulator, startProviderSimulator } from '../support/provider-simulator.js';
import { fact, heading, remark, write } from './screen.js';
import { launchService, type Service } from './service.js';
import { type Demo, refuse, setUp, showEvent, streamAnswer } from './story.js';

const ANSWER = {
  text: `Every request takes one straight line: who calls, what the application may do,
what it will cost at most. Then your key opens the provider's door, the answer
flows through as it comes, and one exact record of it stays behind.`,
  inputTokens: 27,
  outputTokens: 58,
};
const PIECE_DELAY_MS = 15;

/**
 * Tells the whole story, then waits for Ctrl-C unless `once`. Whatever happens, nothing stays behind.
 *
 * @returns the exit code of the process.
 */
export async function runDemo({ once }: { readonly once: boolean }): Promise<number> {
  const interrupted = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve());
  });
  const providerKey = `sk-simulated-${randomBytes(16).toString('hex')}`;
  const simulator = await startProviderSimulator({ providerKey, answer: ANSWER, pieceDelayMs: PIECE_DELAY_MS });
  const service = await launchService();
  try {
    await Promise.race([story(service, simulator, { providerKey, once }), interrupted]);
    return 0;
  } catch (error) {
    write(`\nThe demo failed: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  } finally {
    write('\nStopping the service and removing its data directory.\n');
    await service.stop();
    await simulator.stop();
  }
}

async function story(
  service: Service,
  simulator: ProviderSimulator,
  { providerKey, once }: { readonly providerKey: string; readonly once: boolean },
): Promise<void> {
  heading('1. Start the service on an empty data directory');
  fact('Data directory', service.dataDir);
  const url = await service.url;
  fact('Service', url);
  fact('Provider', `a simulated OpenAI at ${simulator.url}`);

  const demo = await setUp(service, url, { simulator, providerKey });
  await streamAnswer(demo);
  await showEvent(demo);
  await refuse(demo);
  if (once) return;
  invite(demo);
  await service.ended;
  throw new Error('The service has ended by itself.');
}

function invite({ service, url, app }: Demo): void {
  heading('Your turn: the service keeps running');
  fact('API', url);
  fact('Description', `${url}/openapi.json`);
  fact('Management key', service.managementKey);
  write('\n');
  remark(`curl -N ${app.baseUrl}/chat/completions \\
  -H 'Authorization: Bearer ${app.key}' \\
  -H 'Content-Type: application/json' \\
  -d '{"model": "${app.model}", "stream": true, "messages": [{"role": "user", "content": "Hello"}]}'`);
  write('\n');
  remark('Ctrl-C stops everything.');
}
