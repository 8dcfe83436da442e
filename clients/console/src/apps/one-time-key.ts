import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { api, read } from '../api/client';
import { queries } from '../api/queries';
import { useToast } from '../design/toast';

/** Its name in the list of keys. */
const ONE_TIME_NAME = 'One-time key of “Try it”';

/** How long a key that a killed browser leaves behind stays valid. */
const LIFE_MS = 24 * 60 * 60 * 1000;

interface Key {
  readonly id: string;
  readonly secret: string;
}

/**
 * A key of an application that is made on demand and revoked when the panel is closed or the page is left. A killed
 * browser leaves it in the list of keys, under its name, until it expires a day later.
 */
export function useOneTimeKey(app: string): { readonly key: Key | undefined; readonly make: () => Promise<void> } {
  const client = useQueryClient();
  const say = useToast();
  const [key, setKey] = useState<Key>();
  const held = useRef<Key>(undefined);
  const isClosed = useRef(false);
  const revoke = async () => {
    const revoked = held.current;
    if (revoked === undefined) return;
    held.current = undefined;
    const params = { path: { app, key: revoked.id } };
    try {
      await read(api.POST('/v1/admin/apps/{app}/keys/{key}/revoke', { params, keepalive: true }));
      await client.invalidateQueries({ queryKey: queries.appKeys(app).queryKey });
    } catch {
      say(`“${ONE_TIME_NAME}” could not be revoked: do it under Authentication.`);
    }
  };
  useEffect(() => {
    isClosed.current = false;
    const leave = () => {
      void revoke();
      // A browser may restore the page as it was left.
      setKey(undefined);
    };
    addEventListener('pagehide', leave);
    return () => {
      isClosed.current = true;
      removeEventListener('pagehide', leave);
      void revoke();
    };
  }, []);
  const make = async () => {
    const params = { path: { app } };
    const body = { name: ONE_TIME_NAME, expires_at: new Date(Date.now() + LIFE_MS).toISOString() };
    const issued = await read(api.POST('/v1/admin/apps/{app}/keys', { params, body }));
    held.current = { id: issued.id, secret: issued.key };
    if (isClosed.current) await revoke();
    else setKey(held.current);
  };
  return { key, make };
}
