import { createRequire } from 'node:module';
import { types } from 'node:util';
import { TestEnvironment } from 'jest-environment-node';

const require = createRequire(import.meta.url);

/** What a suite and native code hand each other and ask `instanceof` of. */
const KINDS = {
  Error: types.isNativeError,
  Function: (value) => typeof value === 'function',
  Map: types.isMap,
  Promise: types.isPromise,
  RegExp: types.isRegExp,
  Set: types.isSet,
};

/**
 * A Jest environment whose suites share what Node has loaded in their worker; see `native-modules.mjs`. A suite has
 * globals of its own, so `instanceof` asks what a value is, not whose globals made it.
 */
export default class NativeEnvironment extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    this.global.loadNative = require;
    // One for both: Nest keeps its metadata in `Reflect`, and a suite that moves `Date.now` moves it for packages too.
    Object.assign(this.global, { Date, Reflect });
    for (const name of Object.keys(KINDS)) acceptFromBoth(this.global[name], KINDS[name]);
    this.hasDatabase = config.projectConfig.testEnvironmentOptions.hasDatabase === true;
  }

  async setup() {
    await super.setup();
    if (this.hasDatabase) await import('./forbid-nested-connections.mjs');
  }
}

for (const name of Object.keys(KINDS)) acceptFromBoth(globalThis[name], KINDS[name]);

/** Classes that extend `kind` inherit this and keep their own meaning. */
function acceptFromBoth(kind, isOfKind) {
  Object.defineProperty(kind, Symbol.hasInstance, {
    configurable: true,
    value(value) {
      return this === kind ? isOfKind(value) : Function.prototype[Symbol.hasInstance].call(this, value);
    },
  });
}
