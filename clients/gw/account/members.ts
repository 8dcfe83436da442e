import { deploymentAt, urlOf } from '../api/session.js';
import type { Action } from '../program/command.js';
import { Failure } from '../program/failure.js';

/** `gw member …`: not allowed with a management key, so the error names the page of the console. @throws Failure */
export const inConsole: Action = async (gw) => {
  const { capabilities } = await deploymentAt(urlOf(gw), gw.context);
  const url = `${capabilities.consoleOrigin}/members`;
  throw Failure.state('session_required', 'Only a signed-in person can see and change members, not a management key.', {
    ...{ nextAction: `Do this in the console: ${url} (gw open members)`, details: { url } },
  });
};
