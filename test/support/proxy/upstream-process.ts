/**
 * The scripted provider as a process of its own, for tests that kill the service:
 * `node test/support/proxy/upstream-process.ts [--port=N] [--journal=FILE] [--script=NAME] [--delay-ms=N]`.
 * Prints `{"url":"..."}` on one line when it listens; ends on SIGTERM, and when forked, with its parent.
 */
import { registerHooks } from 'node:module';
import { parseArgs } from 'node:util';

/** Node runs this file by stripping its types, but does not look for a `.ts` behind an import that says `.js`. */
registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier.startsWith('.') ? specifier.replace(/\.js$/, '.ts') : specifier, context),
});
const { startUpstream, plainCompletion } = await import('./upstream.js');
const { event, hold, json, resetBeforeAnswer, silence, slowHeaders, sse } = await import('./upstream-scripts.js');

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    journal: { type: 'string' },
    script: { type: 'string', default: 'json' },
    'delay-ms': { type: 'string', default: '0' },
  },
});
const delayMs = Number(values['delay-ms']);

const { choices, usage, ...head } = plainCompletion;
const chunk = (members: object) => event({ ...head, object: 'chat.completion.chunk', ...members });
const words = ['Hel', 'lo', '.'].map((content) => chunk({ choices: [{ index: 0, delta: { content } }] }));
const scripts = {
  json: slowHeaders(delayMs, json(200, plainCompletion)),
  sse: sse([...words, chunk({ choices: [], usage }), event('[DONE]')], { delayMs }),
  hold: hold(words.join('')).script,
  error: slowHeaders(delayMs, json(500, { error: { message: 'scripted' } })),
  reset: resetBeforeAnswer(),
  silence: silence(),
};

const script = Object.entries(scripts).find(([name]) => name === values.script)?.[1];
if (script === undefined) throw new Error(`--script knows ${Object.keys(scripts).join(', ')}`);
const upstream = await startUpstream({
  port: Number(values.port),
  script,
  ...(values.journal !== undefined && { journalFile: values.journal }),
});
process.stdout.write(`${JSON.stringify({ url: upstream.url })}\n`);

const end = () => upstream.close().then(() => process.exit(0));
process.once('SIGTERM', end);
process.once('disconnect', end);
