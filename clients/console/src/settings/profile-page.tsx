import { useQueryClient } from '@tanstack/react-query';
import { api, read } from '../api/client';
import { queries } from '../api/queries';
import { Card } from '../design/layout';
import { NameForm } from '../design/name-form';
import { useSession } from '../shell/session';
import { SettingsFrame } from './settings-frame';

export function ProfilePage() {
  const { user } = useSession();
  const client = useQueryClient();
  const save = async (name: string) => {
    await read(api.POST('/v1/auth/update-user', { body: { name } }));
    await client.invalidateQueries({ queryKey: queries.session().queryKey });
  };
  return (
    <SettingsFrame title="Profile">
      <Card>
        <NameForm label="Your name" autoComplete="name" current={user.name ?? ''} onSave={save} />
        <p className="mt-4 text-sm text-muted">
          You sign in as <strong className="text-ink">{user.email}</strong>, which cannot be changed.
        </p>
      </Card>
    </SettingsFrame>
  );
}
