import { join } from 'node:path';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const API = 'http://127.0.0.1:8080';

/**
 * The console, and script and style of the pages of `tools/documentation.mjs`. `npm run build` writes them to
 * `dist/web`; `npx vite clients/console` serves the console next to a running gateway.
 */
export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss()],
  build: {
    outDir: '../../dist/web',
    emptyOutDir: true,
    target: 'es2023',
    manifest: true,
    rolldownOptions: {
      input: ['index.html', 'src/documentation/page.ts'].map((path) => join(import.meta.dirname, path)),
    },
    // The content security policy allows no data: addresses for scripts, styles and fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: Object.fromEntries(
      ['/v1', '/oauth', '/cli', '/reveal', '/docs', '/openapi.json'].map((path) => [path, API]),
    ),
  },
});
