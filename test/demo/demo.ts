/**
 * `npm run demo`: the gateway's main job end to end, with a simulated provider and no key of anybody's. Leaves the
 * service running until Ctrl-C; with `--once` it ends by itself. Needs the built service.
 */
import { registerHooks } from 'node:module';
import { parseArgs } from 'node:util';

/** Node strips the types of these files, but does not look for a `.ts` behind an import of theirs that says `.js`. */
registerHooks({
  resolve(specifier, context, next) {
    const isOurs = specifier.startsWith('.') && context.parentURL?.endsWith('.ts');
    return next(isOurs ? specifier.replace(/\.js$/, '.ts') : specifier, context);
  },
});
const { values } = parseArgs({ options: { once: { type: 'boolean', default: false } } });
const { runDemo } = await import('./run-demo.js');
process.exitCode = await runDemo(values);
