/** How the client is bundled: into one program that needs no packages except an optional one for the keychain. */

/** Has binaries of its own. */
export const KEYCHAIN = '@napi-rs/keyring';

/**
 * Settings of the bundler.
 *
 * @param version that the program reports.
 * @param place the input and the output of Rolldown.
 */
export function bundleOf(version, { outDir, input, output }) {
  return {
    configFile: false,
    logLevel: 'warn',
    define: { GW_VERSION: JSON.stringify(version) },
    ssr: { noExternal: true, external: [KEYCHAIN] },
    build: { ssr: true, outDir, emptyOutDir: true, target: 'node20.19', rolldownOptions: { input, output } },
  };
}
