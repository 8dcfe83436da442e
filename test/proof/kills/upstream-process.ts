/**
 * The scripted provider as a separate process, so that it outlives the killed service: `node
 * test/proof/kills/upstream-process.ts --script=json|sse --journal=FILE --delay-ms=N`. Prints `{"url":"..."}` on one
 * line when it listens; ends on SIGTERM.
 */
import { registerHooks } from 'node:module';
import { parseArgs } from 'node:util';

/** Node runs this file by stripping its types, but does not look for a `.ts` behind an import that says `.js`. */
registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier.startsWith('.') ? specifier.replace(/\.js$/, '.ts') : specifier, context),
});
const { startUpstream, plainCompletion } = await import('../../support/proxy/upstream.js');
const { event, json, slowHeaders, sse } = await import('../../support/proxy/upstream-scripts.js');

const { values } = parseArgs({
  options: { journal: { type: 'string' }, script: { type: 'string' }, 'delay-ms': { type: 'string' } },
});
const { journal: journalFile = '', script = '', 'delay-ms': delay } = values;
const delayMs = Number(delay);

const { choices, usage, ...head } = plainCompletion;
const chunk = (members: object) => event({ ...head, object: 'chat.completion.chunk', ...members });
const words = ['Hel', 'lo', '.'].map((content) => chunk({ choices: [{ index: 0, delta: { content } }] }));
const scripts = {
  json: slowHeaders(delayMs, json(200, plainCompletion)),
  sse: sse([...words, chunk({ choices: [], usage }), event('[DONE]')], { delayMs }),
};
if (script !== 'json' && script !== 'sse') throw new Error('--script knows json and sse');

const upstream = await startUpstream({ script: scripts[script], journalFile });
process.stdout.write(`${JSON.stringify({ url: upstream.url })}\n`);
process.once('SIGTERM', () => upstream.close().then(() => process.exit(0)));
