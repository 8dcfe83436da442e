import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { queries } from '../api/queries';
import { Button, ButtonLink } from '../design/button';
import { Badge, Card, EmptyState } from '../design/layout';
import { Loaded } from '../design/loaded';
import { type AttentionItem, attentionText } from './attention.rules';

/** Items that need action, each with a link. */
export function AttentionCard() {
  const query = useQuery(queries.attention());
  return (
    <Card title="Needs attention" isFlush>
      <Loaded query={query}>{(items) => <Items items={items} />}</Loaded>
    </Card>
  );
}

/** Items that are shown before the rest is expanded; failing providers and budgets come first. */
const MOST_SHOWN = 4;

function Items({ items }: { readonly items: readonly AttentionItem[] }) {
  const [isWhole, setWhole] = useState(false);
  if (items.length === 0) {
    return (
      <EmptyState title="Nothing needs attention">
        Failing providers, budgets above 80%, unresolved costs of the last 30 days, and keys that have not been used for
        90 days are listed here.
      </EmptyState>
    );
  }
  const rest = isWhole ? 0 : items.length - MOST_SHOWN;
  return (
    <ul className="divide-y divide-line">
      {(rest > 0 ? items.slice(0, MOST_SHOWN) : items).map((item) => (
        <Item key={`${item.kind} ${item.id}`} item={item} />
      ))}
      {rest > 0 && (
        <li className="px-2 py-1">
          <Button size="sm" look="ghost" onClick={() => setWhole(true)}>
            Show {rest} more
          </Button>
        </li>
      )}
    </ul>
  );
}

function Item({ item }: { readonly item: AttentionItem }) {
  const { title, detail, to, act, isUrgent } = attentionText(item);
  return (
    <li className="flex flex-wrap items-center justify-between gap-3 px-4 py-3">
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-2 font-medium break-words">
          <Badge tone={isUrgent ? 'bad' : 'warn'}>{isUrgent ? 'Urgent' : 'Notice'}</Badge>
          {title}
        </p>
        <p className="text-sm text-muted">{detail}</p>
      </div>
      <ButtonLink to={to} size="sm">
        {act}
      </ButtonLink>
    </li>
  );
}
