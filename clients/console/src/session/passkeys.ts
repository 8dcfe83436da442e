import { browserSupportsWebAuthn, startAuthentication, startRegistration } from '@simplewebauthn/browser';
import { api, read } from '../api/client';

/** Whether this browser has passkeys. */
export const hasPasskeys = browserSupportsWebAuthn;

/** Closing the browser's own dialog is not an error of the gateway. */
class PasskeyCancelled extends Error {
  constructor(cause: unknown) {
    super('No passkey was used: you closed the dialog, or this browser has none for this address.', { cause });
  }
}

/** Lets the browser create a passkey for the person who is signed in, and stores it. */
export async function addPasskey(name: string): Promise<void> {
  const { options } = await read(api.POST('/v1/auth/passkeys/options'));
  const made = await ofBrowser(() => startRegistration({ optionsJSON: Object(options) }));
  const { clientDataJSON, attestationObject } = made.response;
  await read(api.POST('/v1/auth/passkeys', { body: { name, id: made.id, clientDataJSON, attestationObject } }));
}

/** Signs in with whichever passkey the person chooses. */
export async function signInWithPasskey(): Promise<void> {
  const { options } = await read(api.POST('/v1/auth/sign-in/passkey/options'));
  const made = await ofBrowser(() => startAuthentication({ optionsJSON: Object(options) }));
  const { clientDataJSON, authenticatorData, signature, userHandle = '' } = made.response;
  const body = { id: made.id, clientDataJSON, authenticatorData, signature, userHandle };
  await read(api.POST('/v1/auth/sign-in/passkey', { body }));
}

async function ofBrowser<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw error instanceof Error && error.name === 'NotAllowedError' ? new PasskeyCancelled(error) : error;
  }
}
