import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { problemAt } from '../api/api-error';
import { api, read } from '../api/client';
import { queries } from '../api/queries';
import { Button } from '../design/button';
import { TextField } from '../design/field';
import { Card, ErrorAlert } from '../design/layout';
import { useToast } from '../design/toast';
import { PasskeysCard } from './passkeys-card';
import { RecoveryCodesCard } from './recovery-codes-card';
import { SessionsCard } from './sessions-card';
import { SettingsFrame } from './settings-frame';

export function SecurityPage() {
  const client = useQueryClient();
  const { data: capabilities } = useQuery(queries.capabilities());
  const say = useToast();
  const [currentPassword, setCurrent] = useState('');
  const [newPassword, setNew] = useState('');
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const change = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await read(api.POST('/v1/auth/change-password', { body: { currentPassword, newPassword } }));
      setCurrent('');
      setNew('');
      await client.invalidateQueries();
      say('Your password is changed, and every other session is signed out.');
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
  };
  const problems = {
    currentPassword: problemAt(error, 'currentPassword'),
    newPassword: problemAt(error, 'newPassword'),
  };
  const isAtField = Object.values(problems).some((problem) => problem !== undefined);
  return (
    <SettingsFrame title="Password and sessions">
      <Card title="Change password" lead="Changing it signs out all your other sessions.">
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            void change();
          }}
        >
          <TextField
            label="Current password"
            type="password"
            autoComplete="current-password"
            required
            value={currentPassword}
            onChange={setCurrent}
            error={problems.currentPassword}
          />
          <TextField
            label="New password"
            type="password"
            autoComplete="new-password"
            required
            minLength={8}
            value={newPassword}
            onChange={setNew}
            error={problems.newPassword}
          />
          {error !== undefined && !isAtField && <ErrorAlert error={error} />}
          <div>
            <Button look="primary" type="submit" isBusy={isBusy}>
              Save
            </Button>
          </div>
        </form>
      </Card>
      <div className="mt-6 flex flex-col gap-6">
        {capabilities?.passkeys === true && <PasskeysCard />}
        <RecoveryCodesCard />
        <SessionsCard />
      </div>
    </SettingsFrame>
  );
}
