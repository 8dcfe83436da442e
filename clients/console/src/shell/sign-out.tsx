import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { ApiError } from '../api/api-error';
import { api, read } from '../api/client';
import { Button } from '../design/button';
import { Dialog } from '../design/dialog';
import { ErrorAlert } from '../design/layout';
import { DRAFT, forgetPeople, Kept } from '../session/kept';
import { useLeaveGuard } from './guarded-router';
import { useSession } from './session';

/** Between the tabs of a browser. */
const CHANNEL = 'sign-out';

interface SignOut {
  /** Ends the session; asks first if unsaved changes would be lost. */
  readonly signOut: () => void;
  readonly question: ReactNode;
}

/** Ends the session of this browser and deletes everything kept for the person, in every tab. */
export function useSignOut(): SignOut {
  const { user } = useSession();
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const [isAsking, setAsking] = useState(false);
  const [error, setError] = useState<unknown>();
  const guard = useLeaveGuard();
  useSignOutElsewhere(guard.forget);
  const end = async () => {
    setError(undefined);
    try {
      await read(api.POST('/v1/auth/sign-out', {}));
    } catch (thrown) {
      // An already ended session is fine.
      if (!(thrown instanceof ApiError && thrown.isSignedOut)) {
        setAsking(true);
        setError(thrown);
        return;
      }
    }
    guard.forget();
    forget(client);
    tellOtherTabs();
    navigate('/login');
  };
  const losesText = () => guard.hasText || new Kept(sessionStorage, user.id).names(DRAFT).length > 0;
  return {
    signOut: () => {
      if (losesText()) setAsking(true);
      else void end();
    },
    question: (
      <Dialog
        title="Sign out?"
        lead={losesText() ? 'You have unsaved changes in this tab. Signing out discards them.' : undefined}
        isOpen={isAsking}
        onClose={() => {
          setAsking(false);
          setError(undefined);
        }}
      >
        <div className="flex flex-col gap-4">
          {error !== undefined && <ErrorAlert error={error} />}
          <div className="flex justify-end gap-2">
            <Button onClick={() => setAsking(false)}>Stay</Button>
            <Button look="danger" onClick={() => void end()}>
              Sign out
            </Button>
          </div>
        </div>
      </Dialog>
    ),
  };
}

/** A sign-out in another tab also signs out this one: its data belongs to a person who has left. */
function useSignOutElsewhere(forgetText: () => void): void {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  useEffect(() => {
    const channel = new BroadcastChannel(CHANNEL);
    channel.onmessage = () => {
      forgetText();
      forget(client);
      navigate('/login');
    };
    return () => channel.close();
  }, [client, navigate, forgetText]);
}

function forget(client: QueryClient): void {
  forgetPeople();
  client.clear();
}

/** For every way in which the person ends this browser's session. */
export function tellOtherTabs(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage('signed out');
  channel.close();
}
