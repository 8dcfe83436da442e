import { Text } from '../../common/fields/fields.js';
import { CONSOLE_PATH, MAX_CONSOLE_PATH } from './console-path.rules.js';

/** A path of the console, in a body. */
export function ConsolePath({ description }: { readonly description: string }): PropertyDecorator {
  return Text({
    max: MAX_CONSOLE_PATH,
    pattern: CONSOLE_PATH,
    patternText: `a path of the console of at most ${MAX_CONSOLE_PATH} characters, such as /apps`,
    optional: true,
    description,
  });
}
