import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, read, type Schemas } from '../api/client';
import { queries } from '../api/queries';
import { useSubmit } from '../api/use-submit';
import { Button } from '../design/button';
import { TypedConfirmation } from '../design/dialog';
import { TextArea } from '../design/field';
import { Card, EmptyState, ErrorAlert } from '../design/layout';
import { Loaded } from '../design/loaded';
import { Time } from '../design/time';
import { useReadOnlyReason } from '../shell/session';
import { sentCredentials } from './play-credentials.rules';

const KINDS: Readonly<Record<Schemas['PlayCredential']['kind'], string>> = {
  service_account: 'Service account',
  response_keys: 'Response keys',
};

/** The credentials that decode the integrity tokens of the application: write-only. */
export function PlayCredentials({ app }: { readonly app: string }) {
  const query = useQuery(queries.playCredentials(app));
  const client = useQueryClient();
  const reason = useReadOnlyReason();
  const [text, setText] = useState('');
  const [isDeleting, setDeleting] = useState(false);
  const { run, error: problem, isBusy } = useSubmit();
  const params = { path: { app } };
  const path = '/v1/admin/apps/{app}/play-integrity/credentials';
  const refresh = () => client.invalidateQueries({ queryKey: queries.playCredentials(app).queryKey });
  const save = () =>
    run(async () => {
      await read(api.PUT(path, { params, body: sentCredentials(text) }));
      setText('');
      await refresh();
    });
  const remove = async () => {
    await read(api.DELETE(path, { params }));
    await refresh();
  };
  return (
    <Card
      title="Play Integrity credentials"
      lead="Credentials that decode the tokens of phones. Sealed; nobody can read them again. Not part of the draft: they are set at once."
    >
      <div className="flex flex-col gap-4">
        <Loaded query={query}>
          {(credentials) =>
            credentials.length === 0 ? (
              <EmptyState title="None set">Phones cannot register with Play Integrity.</EmptyState>
            ) : (
              <ul className="flex flex-col gap-2 text-sm">
                {credentials.map(({ kind, hint, updated_at }) => (
                  <li key={kind}>
                    {KINDS[kind]}: <code className="text-xs break-all">{hint}</code>, set{' '}
                    <Time at={updated_at} isRelative />
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
        <TextArea
          label="New credentials"
          hint="The key file of a service account, or the decryption key and the verification key from Play Console, one per line."
          rows={4}
          autoComplete="off"
          value={text}
          onChange={setText}
          reason={reason}
        />
        {problem !== undefined && <ErrorAlert error={problem} />}
        <div className="flex gap-3">
          <Button
            reason={reason ?? (text.trim() === '' ? 'Paste credentials first.' : undefined)}
            isBusy={isBusy}
            onClick={() => void save()}
          >
            Set credentials
          </Button>
          {(query.data ?? []).length > 0 && (
            <Button look="ghost" reason={reason} onClick={() => setDeleting(true)}>
              Delete credentials
            </Button>
          )}
        </div>
      </div>
      <TypedConfirmation
        title="Delete the credentials?"
        lead="Phones can no longer register with Play Integrity. Registered phones are not affected."
        phrase="delete"
        act="Delete"
        isOpen={isDeleting}
        onClose={() => setDeleting(false)}
        onConfirm={remove}
      />
    </Card>
  );
}
