import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The compilation of a source; a package and a file of `test/support` are what Node runs already. */
function runnableFileOf(path) {
  if (path.includes('/node_modules/') || path.includes('/test/support/')) return path;
  return `${root}dist/${path.slice(root.length).replace(/\.ts$/, '.js')}`;
}

/**
 * A Jest transformer: whatever a suite imports of `src` or of a package becomes the module that Node itself has loaded,
 * once for each worker. `native-environment.mjs` hands it out.
 */
export default {
  process(_source, path, { supportsStaticESM }) {
    const file = runnableFileOf(path);
    const module = `loadNative(${JSON.stringify(file)})`;
    if (!supportsStaticESM) return { code: `module.exports = ${module};` };
    const names = Object.keys(require(file));
    const exports = names.map(
      (name, at) => `const e${at} = native[${JSON.stringify(name)}]; export { e${at} as ${name} };`,
    );
    return { code: [`const native = ${module};`, ...exports].join('\n') };
  },
};
