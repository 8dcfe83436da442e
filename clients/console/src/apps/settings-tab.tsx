import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { problemAt } from '../api/api-error';
import { api, read } from '../api/client';
import { Button } from '../design/button';
import { CodeBlock } from '../design/copy';
import { TypedConfirmation } from '../design/dialog';
import { Checkbox, TextField } from '../design/field';
import { Card } from '../design/layout';
import { Time } from '../design/time';
import { useToast } from '../design/toast';
import { useReadOnlyReason } from '../shell/session';
import { DraftForm, useAppDraft } from './app-draft';

export function SettingsTab() {
  const { id, loaded, draft, change, discard, error } = useAppDraft();
  const reason = useReadOnlyReason();
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const say = useToast();
  const [isDeleting, setDeleting] = useState(false);
  const remove = async () => {
    await read(api.DELETE('/v1/admin/apps/{app}', { params: { path: { app: id }, query: { confirm: id } } }));
    discard();
    await client.invalidateQueries({ queryKey: ['apps'] });
    say(`${loaded.app.name} is deleted.`);
    navigate('/apps');
  };
  return (
    <div className="flex flex-col gap-6">
      <Card title="General">
        <DraftForm className="flex flex-col gap-4">
          <TextField
            label="Application name"
            maxLength={100}
            value={draft.name}
            onChange={(name) => change({ name })}
            reason={reason}
            error={problemAt(error, 'name')}
          />
          <Checkbox
            label="Enabled"
            hint="While disabled, every call is refused with app_disabled. Nothing is deleted."
            checked={draft.status === 'active'}
            onChange={(isOn) => change({ status: isOn ? 'active' : 'disabled' })}
            reason={reason}
          />
          <CodeBlock label="Application id" code={id} />
          <p className="text-sm text-muted">
            Created <Time at={loaded.app.created_at} />, changed <Time at={loaded.app.updated_at} />, revision{' '}
            {loaded.app.revision}.
          </p>
        </DraftForm>
      </Card>
      <Card title="Configuration" lead="As the gateway stores it, as JSON. gw edits the same configuration as YAML.">
        <CodeBlock label="JSON" code={JSON.stringify(draft.config, null, 2)} />
      </Card>
      <Card
        title="Delete this application"
        lead="Its keys, users, devices and sign-ins are deleted. Recorded usage is kept."
      >
        <Button look="danger" reason={reason} onClick={() => setDeleting(true)}>
          Delete application
        </Button>
        <TypedConfirmation
          title={`Delete ${loaded.app.name}?`}
          lead="All its calls are refused from now on. This cannot be undone."
          phrase={id}
          act="Delete"
          isOpen={isDeleting}
          onClose={() => setDeleting(false)}
          onConfirm={remove}
        />
      </Card>
    </div>
  );
}
