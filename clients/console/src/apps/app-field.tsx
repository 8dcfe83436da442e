import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { queries } from '../api/queries';
import { SuggestField } from '../design/suggest-field';

const MOST_APPS = 20;

/** The id of an application, found by its name or id; that of a deleted one can be typed. */
export function AppField({
  label,
  id,
  search,
  onChange,
}: {
  readonly label: string;
  readonly id: string;
  /** What is typed, once typing pauses. */
  readonly search: string;
  readonly onChange: (id: string) => void;
}) {
  const { data } = useQuery({
    ...queries.apps({ ...(search === '' ? {} : { query: search }), sort: 'name', limit: MOST_APPS }),
    placeholderData: keepPreviousData,
  });
  const known = data?.apps.map((app) => ({ value: app.id, note: app.name })) ?? [];
  return <SuggestField label={label} known={known} placeholder="Name or id" value={id} onChange={onChange} />;
}
