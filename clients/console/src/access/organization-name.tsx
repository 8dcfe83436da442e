import { useQueryClient } from '@tanstack/react-query';
import { api, read } from '../api/client';
import { queries } from '../api/queries';
import { Card } from '../design/layout';
import { NameForm } from '../design/name-form';
import { useReadOnlyReason, useSession } from '../shell/session';

export function OrganizationName() {
  const { organization } = useSession();
  const reason = useReadOnlyReason();
  const client = useQueryClient();
  if (organization === null) return null;
  const save = async (name: string) => {
    const params = { path: { id: organization.id } };
    await read(api.PATCH('/v1/admin/organizations/{id}', { params, body: { name } }));
    await client.invalidateQueries({ queryKey: queries.session().queryKey });
  };
  return (
    <Card title="Organization">
      <NameForm label="Organization name" current={organization.name} reason={reason} onSave={save} />
    </Card>
  );
}
