import { useState } from 'react';
import { problemAt } from '../api/api-error';
import type { Schemas } from '../api/client';
import { Button } from '../design/button';
import { TextField } from '../design/field';
import { Card } from '../design/layout';
import { useReadOnlyReason } from '../shell/session';
import { DraftForm, useAppDraft } from './app-draft';
import { textOfList } from './issuer.rules';
import { LimitFields } from './limit-fields';

type GroupLimits = Schemas['AppGroupLimits'];
type Groups = Readonly<Record<string, GroupLimits>>;

const MOST_GROUPS = 3;

/** Limits of a backend's own groups, such as teams or tenants. */
export function GroupsCard() {
  const { draft, changeConfig } = useAppDraft();
  const reason = useReadOnlyReason();
  const [name, setName] = useState('');
  const { groups = {}, ...limits } = draft.config.limits ?? {};
  const { end_user: endUser, type } = draft.config.authentication;
  const isOfIssuer = endUser?.source === 'issuer';
  const set = (changed: Groups) =>
    changeConfig({ limits: Object.keys(changed).length === 0 ? limits : { ...limits, groups: changed } });
  if (type !== 'api_key' && !isOfIssuer) return null;
  const isTaken = Object.hasOwn(groups, name);
  const isName = /^[a-z0-9-]{1,32}$/.test(name);
  const problem = isTaken || !isName ? 'Type a name that is not in use: 1 to 32 of a-z, 0-9 and -.' : undefined;
  const add = () => {
    set({ ...groups, [name]: isOfIssuer ? { claim: name } : { header: `x-${name}` } });
    setName('');
  };
  return (
    <Card
      title="Groups"
      lead="Your teams or tenants. Each value of the header or claim is one group with its own limits."
    >
      <div className="flex flex-col gap-6">
        {Object.entries(groups).map(([of, group]) => (
          <GroupForm
            key={of}
            name={of}
            group={group}
            onChange={(changed) => set({ ...groups, [of]: changed })}
            onRemove={() => set(Object.fromEntries(Object.entries(groups).filter(([other]) => other !== of)))}
          />
        ))}
        {Object.keys(groups).length < MOST_GROUPS && (
          <div className="flex items-start gap-2">
            <TextField
              label="New group type"
              hint="Lower case letters, digits and -, such as team."
              value={name}
              onChange={setName}
              error={isTaken ? 'is already in use' : undefined}
              reason={reason}
            />
            <Button onClick={add} size="row" reason={reason ?? problem}>
              Add group type
            </Button>
          </div>
        )}
      </div>
    </Card>
  );
}

function GroupForm({
  name,
  group,
  onChange,
  onRemove,
}: {
  readonly name: string;
  readonly group: GroupLimits;
  readonly onChange: (group: GroupLimits) => void;
  readonly onRemove: () => void;
}) {
  const { error } = useAppDraft();
  const reason = useReadOnlyReason();
  const { claim, header } = group;
  const path = `config.limits.groups.${name}`;
  const isOfClaim = claim !== undefined;
  return (
    <section aria-label={`Groups: ${name}`}>
      <DraftForm className="flex flex-col gap-4">
        <div className="flex items-start justify-between gap-2">
          <TextField
            label={isOfClaim ? `Claim that names the ${name}` : `Header that names the ${name}`}
            value={isOfClaim ? textOfList(claim, '.') : (header ?? '')}
            onChange={(typed) => onChange({ ...group, [isOfClaim ? 'claim' : 'header']: typed })}
            error={problemAt(error, `${path}.${isOfClaim ? 'claim' : 'header'}`) ?? problemAt(error, path)}
            reason={reason}
          />
          <Button size="row" onClick={onRemove} reason={reason}>
            Remove {name}
          </Button>
        </div>
        <LimitFields limits={group} onChange={onChange} path={path} hasTotal />
      </DraftForm>
    </section>
  );
}
