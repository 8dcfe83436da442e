import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { problemAt } from '../api/api-error';
import { api, read, type Schemas } from '../api/client';
import { type Provider, queries } from '../api/queries';
import { Button } from '../design/button';
import { Dialog } from '../design/dialog';
import { Checkbox, TextArea, TextField } from '../design/field';
import { ErrorAlert } from '../design/layout';
import { useToast } from '../design/toast';
import { useReadOnlyReason } from '../shell/session';
import { baseUrlHint, baseUrlProblem } from './base-url.rules';
import { markTested } from './provider-test';

type Update = Schemas['UpdateProviderRequest'];

/** Name, key, address, prices and state of a provider. */
export function ChangeProvider({ provider, onClose }: { readonly provider: Provider; readonly onClose: () => void }) {
  const reason = useReadOnlyReason();
  const client = useQueryClient();
  const say = useToast();
  const [name, setName] = useState(provider.name);
  const [secret, setSecret] = useState('');
  const [baseUrl, setBaseUrl] = useState(provider.baseUrl ?? '');
  const [isOn, setOn] = useState(provider.status === 'active');
  const before = provider.pricing === null ? '' : JSON.stringify(provider.pricing, null, 2);
  const [pricing, setPricing] = useState(before);
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const hasOwnKey = provider.secretHint !== null;
  const isMoved = hasOwnKey && baseUrl !== (provider.baseUrl ?? '');
  const doubled = isMoved ? baseUrlProblem(provider.type, baseUrl) : undefined;
  const save = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const body: Update = {
        ...{ revision: provider.revision, name, status: isOn ? 'active' : 'disabled' },
        ...(secret === '' ? {} : { secret }),
        ...(isMoved ? { baseUrl: baseUrl === '' ? null : baseUrl } : {}),
        ...(pricing === before ? {} : { pricing: pricing.trim() === '' ? null : JSON.parse(pricing) }),
      };
      await read(api.PUT('/v1/admin/providers/{id}', { params: { path: { id: provider.id } }, body }));
      if (secret !== '') await markTested(provider);
      await client.invalidateQueries({ queryKey: queries.providers().queryKey });
      say(secret === '' ? `${name} is changed.` : `${name} now uses its new key.`);
      onClose();
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
  };
  const isAtField = ['name', 'secret', 'baseUrl', 'pricing'].some((field) => problemAt(error, field) !== undefined);
  return (
    <Dialog title={provider.name} lead={<code>{provider.slug}</code>} isOpen onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (reason === undefined && doubled === undefined) void save();
        }}
      >
        <TextField label="Name" value={name} onChange={setName} reason={reason} error={problemAt(error, 'name')} />
        <Checkbox
          label="Enabled"
          hint="While disabled, calls to it are refused. Its key is kept."
          checked={isOn}
          onChange={setOn}
          reason={reason}
        />
        {hasOwnKey && (
          <>
            <TextField
              label="New provider key"
              type="password"
              autoComplete="off"
              hint={`Empty: keep the one that ends with ${provider.secretHint}. A new one is tested once it is stored.`}
              value={secret}
              onChange={setSecret}
              reason={reason}
              error={problemAt(error, 'secret')}
            />
            <TextField
              label="Base URL"
              hint={baseUrlHint(provider.type)}
              value={baseUrl}
              onChange={setBaseUrl}
              reason={reason}
              error={doubled ?? problemAt(error, 'baseUrl')}
            />
          </>
        )}
        <TextArea
          label="Custom prices (JSON)"
          hint="USD per million tokens, such as {&quot;my-model&quot;: {&quot;input&quot;: 0.5, &quot;output&quot;: 2}}. Empty: the catalog’s."
          rows={5}
          value={pricing}
          onChange={setPricing}
          reason={reason}
          error={problemAt(error, 'pricing')}
        />
        {error !== undefined && !isAtField && <ErrorAlert error={error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" isBusy={isBusy} reason={reason}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
