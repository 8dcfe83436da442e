import { PageHeader } from '../design/layout';
import { UsageReport } from './usage-report';

/** Usage of the whole account. */
export function UsagePage() {
  return (
    <>
      <PageHeader title="Usage" lead="Of all applications of the account, deleted ones included. Days are UTC." />
      <UsageReport app={undefined} />
    </>
  );
}
