/** Preloaded by a process whose garbage collections a test reads from its output. */
import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--trace-gc');
