import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, read, type Schemas } from '../api/client';
import { useSubmit } from '../api/use-submit';
import { Button } from '../design/button';
import { TypedConfirmation } from '../design/dialog';
import { Badge, Card, ErrorAlert } from '../design/layout';
import { Loaded } from '../design/loaded';
import { Day, Time } from '../design/time';
import { useToast } from '../design/toast';
import { forgetPeople } from '../session/kept';
import { tellOtherTabs } from '../shell/sign-out';
import { browserName } from './browser-name.rules';

type OwnSession = Schemas['OwnSessionResource'];

const KEY = ['own-sessions'];

/** The sessions of the person, and how to end them. */
export function SessionsCard() {
  const client = useQueryClient();
  const say = useToast();
  const { run, error: problem } = useSubmit();
  const [isLeaving, setLeaving] = useState(false);
  const query = useQuery({
    queryKey: KEY,
    queryFn: async () => (await read(api.GET('/v1/auth/list-sessions'))).sessions,
  });
  const end = (id: string) =>
    run(async () => {
      await read(api.POST('/v1/auth/revoke-session', { body: { id } }));
      await client.invalidateQueries({ queryKey: KEY });
      say('That browser is signed out.');
    });
  const leave = async () => {
    await read(api.POST('/v1/auth/revoke-sessions'));
    forgetPeople();
    tellOtherTabs();
    location.assign('/login');
  };
  return (
    <Card
      title="Sessions"
      lead="Browsers that are signed in as you. Keys, terminals and AI clients are on the Access page."
      isFlush
      actions={
        <Button look="danger" onClick={() => setLeaving(true)}>
          Sign out everywhere
        </Button>
      }
    >
      {problem !== undefined && <ErrorAlert error={problem} />}
      <Loaded query={query} rows={2}>
        {(sessions) => (
          <ul>
            {sessions.map((session) => (
              <SessionRow key={session.id} session={session} onEnd={() => void end(session.id)} />
            ))}
          </ul>
        )}
      </Loaded>
      <TypedConfirmation
        title="Sign out everywhere?"
        lead="Every browser that is signed in as you is signed out, including this one."
        phrase="sign out"
        act="Sign out everywhere"
        isOpen={isLeaving}
        onClose={() => setLeaving(false)}
        onConfirm={leave}
      />
    </Card>
  );
}

function SessionRow({ session, onEnd }: { readonly session: OwnSession; readonly onEnd: () => void }) {
  const { userAgent, ipAddress, createdAt, expiresAt, current } = session;
  return (
    <li className="flex flex-wrap items-center justify-between gap-3 border-b border-line px-4 py-3 last:border-0">
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-2 font-medium">
          {browserName(userAgent)}
          {current && <Badge tone="accent">This browser</Badge>}
        </p>
        <p className="text-sm text-muted">
          Signed in <Time at={createdAt} />
          {ipAddress !== null && ` from ${ipAddress}`}; unused, it ends on <Day at={expiresAt} />.
        </p>
      </div>
      {!current && (
        <Button size="sm" onClick={onEnd}>
          Sign out<span className="sr-only"> {browserName(userAgent)}</span>
        </Button>
      )}
    </li>
  );
}
