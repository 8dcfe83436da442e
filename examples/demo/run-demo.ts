import { fillConsole } from './console-story.js';
import { streamThroughEndpoint } from './endpoint-story.js';
import { reachLimits } from './limits-story.js';
import { fact, heading, remark, write } from './screen.js';
import { playOnStage, type Stage } from './stage.js';
import { type Demo, ENDPOINT, refuse, setUp, showEvent, streamAnswer } from './story.js';

/**
 * Runs the whole demo, then waits for Ctrl-C unless `once`.
 *
 * @returns the exit code of the process.
 */
export function runDemo({ once }: { readonly once: boolean }): Promise<number> {
  return playOnStage({}, (stage) => story(stage, once));
}

async function story({ service, simulator, providerKey }: Stage, once: boolean): Promise<void> {
  heading('1. Start the service on an empty data directory');
  fact('Data directory', service.dataDir);
  const url = await service.url;
  fact('Service', url);
  fact('Provider', `a simulator of OpenAI and xAI at ${simulator.url}`);

  const demo = await setUp(service, url, { simulator, providerKey });
  await streamAnswer(demo);
  await showEvent(demo);
  await streamThroughEndpoint(demo);
  await refuse(demo);
  await reachLimits(demo);
  if (once) return;
  await fillConsole(demo);
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
  remark(`curl -N ${app.endpointsUrl}/${ENDPOINT} \\
  -H 'Authorization: Bearer ${app.key}' \\
  -H 'Content-Type: application/json' \\
  -d '{"stream": true, "input": "Hello"}'`);
  write('\n');
  remark('Ctrl-C stops everything.');
}
