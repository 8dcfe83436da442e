import { useId } from 'react';
import { Choices, Problem } from '../design/field';
import { type EventGroup, type EventType, groupsOf, withGroup, withType } from './event-filter.rules';

const MODES = [
  { value: 'all', label: 'Every event', hint: 'Including types of later versions.' },
  { value: 'some', label: 'Chosen events' },
] as const;

/** Which events are sent; null: every one. */
export function EventChoice({
  types,
  filter,
  onChange,
  error,
}: {
  readonly types: readonly EventType[];
  readonly filter: readonly string[] | null;
  readonly onChange: (filter: string[] | null) => void;
  readonly error: string | undefined;
}) {
  return (
    <div className="flex flex-col gap-2">
      <Choices
        legend="Events"
        value={filter === null ? 'all' : 'some'}
        choices={MODES}
        onChange={(mode) => onChange(mode === 'all' ? null : [])}
      />
      {filter !== null && (
        <div className="max-h-72 divide-y divide-line overflow-y-auto rounded-md border border-line">
          {groupsOf(types).map((group) => (
            <Group key={group.prefix} group={group} filter={filter} onChange={onChange} />
          ))}
        </div>
      )}
      <Problem text={error} />
    </div>
  );
}

function Group({
  group,
  filter,
  onChange,
}: {
  readonly group: EventGroup;
  readonly filter: readonly string[];
  readonly onChange: (filter: string[]) => void;
}) {
  const isWhole = filter.includes(group.prefix);
  return (
    <fieldset className="px-3 py-2">
      <legend className="sr-only">{group.subject}</legend>
      <Tick
        name={`Every ${group.subject} event`}
        checked={isWhole}
        onChange={(checked) => onChange(withGroup(filter, group, checked))}
      >
        <span className="font-mono text-xs font-medium">{group.prefix}</span>
      </Tick>
      <div className="mt-1 flex flex-wrap gap-x-4 gap-y-1 pl-6 text-sm">
        {group.types.map(({ type, means }) => (
          <Tick
            key={type}
            name={type}
            title={means}
            checked={isWhole || filter.includes(type)}
            isDisabled={isWhole}
            onChange={(checked) => onChange(withType(filter, type, checked))}
          >
            <span>{type.slice(group.subject.length + 1)}</span>
          </Tick>
        ))}
      </div>
    </fieldset>
  );
}

/** A checkbox within a line. @param name what assistive technology reads. */
function Tick({
  name,
  title,
  checked,
  isDisabled = false,
  onChange,
  children,
}: {
  readonly name: string;
  readonly title?: string;
  readonly checked: boolean;
  readonly isDisabled?: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly children: React.ReactNode;
}) {
  const id = useId();
  return (
    <span className="inline-flex items-center gap-1.5" title={title}>
      <input
        id={id}
        type="checkbox"
        className="size-4 accent-accent"
        aria-label={name}
        checked={checked}
        disabled={isDisabled}
        onChange={(event) => onChange(event.target.checked)}
      />
      <label htmlFor={id}>{children}</label>
    </span>
  );
}
