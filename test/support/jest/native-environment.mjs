import { createRequire } from 'node:module';
import { TestEnvironment } from 'jest-environment-node';

const require = createRequire(import.meta.url);

/** A Jest environment whose suites share what Node has loaded in their worker; see `native-modules.mjs`. */
export default class NativeEnvironment extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.loadNative = require;
  }
}
