/**
 * `npm run demo`: the gateway's main job end to end, with a simulated provider and without real keys. `npm run phone`
 * (`--phone`): how phones and signed-in users call, with a simulated phone. Both leave the service running until
 * Ctrl-C; with `--once` they end by themselves. Needs the built service.
 */
import { registerHooks } from 'node:module';
import { parseArgs } from 'node:util';

/** Node strips the types of these files, but does not resolve their `.js` imports to `.ts` files. */
registerHooks({
  resolve(specifier, context, next) {
    const isOurs = specifier.startsWith('.') && context.parentURL?.endsWith('.ts');
    return next(isOurs ? specifier.replace(/\.js$/, '.ts') : specifier, context);
  },
});
const OPTIONS = { once: { type: 'boolean', default: false }, phone: { type: 'boolean', default: false } } as const;
const { values } = parseArgs({ options: OPTIONS });
if (values.phone) {
  const { runPhone } = await import('./run-phone.js');
  process.exitCode = await runPhone(values);
} else {
  const { runDemo } = await import('./run-demo.js');
  process.exitCode = await runDemo(values);
}
