import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { memberPath, problemAt, problemExactlyAt } from '../api/api-error';
import { queries } from '../api/queries';
import { Button } from '../design/button';
import { CodeBlock } from '../design/copy';
import { Dialog, UNREADABLE } from '../design/dialog';
import { SelectField, TextField } from '../design/field';
import { Alert, ErrorAlert } from '../design/layout';
import { useReadOnlyReason } from '../shell/session';
import { useAppDraft } from './app-draft';
import { type Endpoint, problemOfName, STYLES, withStyle } from './endpoint.rules';
import { ParamsForm } from './endpoint-params';
import { type Target, TargetForm } from './endpoint-target';
import { StreamFields } from './stream-fields';

const PATH = 'config.endpoints';

/** Adds or changes an endpoint. The submitted values stay in the draft of the application, even if they are refused. */
export function EndpointDrawer({
  opened,
  onClose,
}: {
  /** The name of an endpoint; an empty text for a new one. */
  readonly opened: string;
  readonly onClose: () => void;
}) {
  return (
    <Dialog
      title={opened === '' ? 'New endpoint' : opened}
      lead={
        opened === '' ? 'A stable address whose provider, model, parameters and fallbacks you can change.' : undefined
      }
      isOpen
      onClose={onClose}
      isDrawer
      guards="unsent"
    >
      <EndpointForm opened={opened} onClose={onClose} />
    </Dialog>
  );
}

function EndpointForm({ opened, onClose }: { readonly opened: string; readonly onClose: () => void }) {
  const { id, draft, error, isSaving, saveConfig } = useAppDraft();
  const reason = useReadOnlyReason();
  const { data: providers = [] } = useQuery(queries.providers());
  const endpoints = draft.config.endpoints ?? {};
  const [name, setName] = useState(opened);
  const [sent, setSent] = useState(opened);
  const [changed, setChanged] = useState<Endpoint | undefined>(endpoints[opened]);
  const first = providers.find(({ capability }) => capability.endpointStyles.includes('responses'))?.slug ?? '';
  const endpoint: Endpoint = changed ?? { provider: first, model: '', api_style: 'responses' };
  const isNew = sent === '';
  const nameProblem = isNew ? problemOfName(name, Object.keys(endpoints)) : undefined;
  const path = memberPath(PATH, name);
  const problem =
    problemExactlyAt(error, path) ?? problemExactlyAt(error, PATH) ?? problemExactlyAt(error, `${path}.fallback`);
  const isElsewhere = error !== undefined && problemAt(error, path, PATH) === undefined;
  const { fallback = [] } = endpoint;
  const setFallback = (targets: readonly Target[]) => setChanged({ ...endpoint, fallback: [...targets] });
  const save = async () => {
    setSent(name);
    if ((await saveConfig({ endpoints: { ...endpoints, [name]: endpoint } })) !== 'refused') onClose();
  };
  return (
    <form
      className="flex flex-col gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        const unreadable = event.currentTarget.querySelector<HTMLElement>(UNREADABLE);
        if (unreadable !== null) unreadable.focus();
        else if (reason === undefined && nameProblem === undefined) void save();
      }}
    >
      {problem !== undefined && <Alert>{problem}</Alert>}
      {isNew && (
        <div className="grid gap-3 sm:grid-cols-2">
          <TextField
            label="Endpoint name"
            hint="Lower-case letters, digits and dashes; a part of its address."
            value={name}
            onChange={setName}
            reason={reason}
            error={name === '' ? undefined : nameProblem}
          />
          <SelectField
            label="Kind"
            value={endpoint.api_style}
            options={STYLES}
            onChange={(style) => setChanged(withStyle(endpoint, style))}
            reason={reason}
          />
        </div>
      )}
      {name !== '' && nameProblem === undefined && (
        <CodeBlock label={`URL of ${name}`} code={`${location.origin}/v1/apps/${id}/endpoints/${name}`} />
      )}
      <TargetForm
        label="Target"
        target={endpoint}
        style={endpoint.api_style}
        onChange={(target) => setChanged({ ...endpoint, ...target })}
        path={path}
      />
      {fallback.map((target, index) => (
        <TargetForm
          key={String(index)}
          label={`Fallback ${index + 1}`}
          target={target}
          style={endpoint.api_style}
          onChange={(next) => setFallback(fallback.map((own, at) => (at === index ? next : own)))}
          onRemove={() => setFallback(fallback.filter((_, at) => at !== index))}
          path={`${path}.fallback.${index}`}
        />
      ))}
      <div>
        <Button size="sm" reason={reason} onClick={() => setFallback([...fallback, { provider: '', model: '' }])}>
          <Plus size={13} /> Add a fallback
        </Button>
      </div>
      {endpoint.api_style === 'responses' && (
        <ParamsForm
          name={name}
          endpoint={endpoint}
          onChange={setChanged}
          problem={problemAt(error, `${path}.params`)}
          ceilingProblem={problemAt(error, `${path}.max_output_tokens`)}
        />
      )}
      <fieldset className="flex flex-col gap-3">
        <legend className="mb-2 font-medium">Resumable answers</legend>
        <StreamFields
          streams={endpoint.streams}
          onChange={(streams) => setChanged({ ...endpoint, ...{ streams } })}
          path={`${path}.streams`}
          empty="Empty: as the application."
        />
      </fieldset>
      {isElsewhere && <ErrorAlert error={error} />}
      <div className="sticky -bottom-5 -mx-5 -mb-5 flex justify-end gap-2 border-t border-line bg-surface px-5 py-3">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" type="submit" isBusy={isSaving} reason={reason ?? nameProblem}>
          Save
        </Button>
      </div>
    </form>
  );
}
