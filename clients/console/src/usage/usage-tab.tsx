import { useAppDraft } from '../apps/app-draft';
import { LimitGauges } from '../apps/limit-gauges';
import { UsageReport } from './usage-report';

/** Usage of one application. */
export function UsageTab() {
  const { id } = useAppDraft();
  return (
    <UsageReport app={id}>
      <LimitGauges />
    </UsageReport>
  );
}
