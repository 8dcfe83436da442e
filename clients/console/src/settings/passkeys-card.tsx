import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { problemAt } from '../api/api-error';
import { api, read, type Schemas } from '../api/client';
import { useSubmit } from '../api/use-submit';
import { Button } from '../design/button';
import { TypedConfirmation } from '../design/dialog';
import { TextField } from '../design/field';
import { Card, ErrorAlert } from '../design/layout';
import { Loaded } from '../design/loaded';
import { Day, Time } from '../design/time';
import { useToast } from '../design/toast';
import { addPasskey, hasPasskeys } from '../session/passkeys';
import { browserName } from './browser-name.rules';

type Passkey = Schemas['PasskeyResource'];

const KEY = ['own-passkeys'];

/** The passkeys of the person, and how to get another. */
export function PasskeysCard() {
  const client = useQueryClient();
  const say = useToast();
  const { run, error: problem, isBusy } = useSubmit();
  const [name, setName] = useState(() => browserName(navigator.userAgent));
  const [removing, setRemoving] = useState<Passkey>();
  const query = useQuery({
    queryKey: KEY,
    queryFn: async () => (await read(api.GET('/v1/auth/passkeys'))).passkeys,
  });
  const refresh = () => client.invalidateQueries({ queryKey: KEY });
  const add = () =>
    run(async () => {
      await addPasskey(name);
      await refresh();
      say('The passkey is added. You can sign in with it.');
    });
  const remove = async ({ id }: Passkey) => {
    await read(api.DELETE('/v1/auth/passkeys/{id}', { params: { path: { id } } }));
    await refresh();
  };
  const isAtField = problemAt(problem, 'name') !== undefined;
  return (
    <Card
      title="Passkeys"
      lead="Sign in with the screen lock of a device or a security key, without a password. Adding and removing one needs a sign-in of the last 15 minutes."
      isFlush
    >
      <form
        className="flex flex-wrap items-start gap-3 border-b border-line p-4"
        onSubmit={(event) => {
          event.preventDefault();
          void add();
        }}
      >
        <TextField
          label="Name of a new passkey"
          required
          maxLength={100}
          value={name}
          onChange={setName}
          error={problemAt(problem, 'name')}
          className="min-w-52 flex-1"
        />
        <Button
          size="row"
          type="submit"
          isBusy={isBusy}
          reason={hasPasskeys() ? undefined : 'This browser does not support passkeys.'}
        >
          Add passkey
        </Button>
      </form>
      {problem !== undefined && !isAtField && <ErrorAlert error={problem} />}
      <Loaded query={query} rows={2}>
        {(passkeys) =>
          passkeys.length === 0 ? (
            <p className="px-4 py-3 text-sm text-muted">You have no passkey.</p>
          ) : (
            <ul>
              {passkeys.map((passkey) => (
                <PasskeyRow key={passkey.id} passkey={passkey} onRemove={() => setRemoving(passkey)} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {removing !== undefined && (
        <TypedConfirmation
          title={`Remove ${removing.name}?`}
          lead="It no longer signs you in. Sessions opened with it stay signed in."
          phrase={removing.name}
          act="Remove"
          isOpen
          onClose={() => setRemoving(undefined)}
          onConfirm={() => remove(removing)}
        />
      )}
    </Card>
  );
}

function PasskeyRow({ passkey, onRemove }: { readonly passkey: Passkey; readonly onRemove: () => void }) {
  const { name, createdAt, lastUsedAt } = passkey;
  return (
    <li className="flex flex-wrap items-center justify-between gap-3 border-b border-line px-4 py-3 last:border-0">
      <div className="min-w-0">
        <p className="font-medium break-words">{name}</p>
        <p className="text-sm text-muted">
          Added on <Day at={createdAt} />, last used{' '}
          {lastUsedAt === null ? 'never' : <Time at={lastUsedAt} isRelative />}.
        </p>
      </div>
      <Button size="sm" onClick={onRemove}>
        Remove<span className="sr-only"> {name}</span>
      </Button>
    </li>
  );
}
