import { randomBytes } from 'node:crypto';
import { type ProviderSimulator, startProviderSimulator } from '../../test/support/proxy/provider-simulator.js';
import { write } from './screen.js';
import { launchService, type Service } from './service.js';

/** The environment of a story. */
export interface Stage {
  readonly service: Service;
  readonly simulator: ProviderSimulator;
  /** The only key the simulated provider accepts. */
  readonly providerKey: string;
}

const ANSWER = {
  text: `Every request takes one straight line: who calls, what the application may do,
what it will cost at most. Then your key opens the provider's door, the answer
flows through as it comes, and one exact record of it stays behind.`,
  inputTokens: 27,
  outputTokens: 58,
};
const PIECE_DELAY_MS = 15;

/**
 * Runs a story with the real service and a simulated provider, until its end, Ctrl-C, or until the output is closed. It
 * always cleans up.
 *
 * @param settings of the service, in addition to those every story needs.
 * @returns the exit code of the process.
 */
export async function playOnStage(
  settings: Readonly<Record<string, string>>,
  story: (stage: Stage) => Promise<void>,
): Promise<number> {
  const interrupted = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve());
    process.stdout.on('error', () => resolve());
  });
  const providerKey = `sk-simulated-${randomBytes(16).toString('hex')}`;
  const simulator = await startProviderSimulator({ providerKey, answer: ANSWER, pieceDelayMs: PIECE_DELAY_MS });
  const service = await launchService(settings);
  try {
    await Promise.race([story({ service, simulator, providerKey }), interrupted]);
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
