import { CliAccountController } from '../../cli/account/cli-account.controller.js';
import { AccountUsageRequest } from '../../cli/dto/cli.request.js';
import { AuthEventsController } from '../../client-auth/events/auth-events.controller.js';
import { AuthEventSummaryRequest, ListAuthEventsRequest } from '../../client-auth/events/dto/auth-events.request.js';
import { EnforcementPreviewRequest } from '../../client-auth/preview/dto/enforcement-preview.request.js';
import { EnforcementPreviewController } from '../../client-auth/preview/enforcement-preview.controller.js';
import {
  ListEventsRequest,
  ListRejectionEventsRequest,
  MonthUsageRequest,
  UsageBreakdownRequest,
  UsageTimeseriesRequest,
} from '../../usage/reports/dto/usage-reports.request.js';
import { UsageReportsController } from '../../usage/reports/usage-reports.controller.js';
import { appTool, counted, type Tool, tool, withOrWithoutApp } from './tool.js';

const USAGE = {
  name: 'get_usage',
  title: 'Read the usage of a month',
  description: 'Of one application, or of the whole account when none is named. Months are UTC.',
};

/** Tools that report on the calls of an application. */
export const REPORT_TOOLS: readonly Tool[] = [
  withOrWithoutApp(
    appTool({
      ...USAGE,
      route: [UsageReportsController, 'month'],
      input: MonthUsageRequest,
      run: (reports, { app, input }) => reports.month(app, input),
      summary: ({ month, requests, cost_usd }) => `${counted(requests, 'request')} in ${month}, ${cost_usd} USD.`,
    }),
    tool({
      ...USAGE,
      route: [CliAccountController, 'usageOf'],
      input: AccountUsageRequest,
      run: (cli, { admin, input }) => cli.usageOf(admin, input),
      summary: ({ month, apps }) => `Usage of ${counted(apps.length, 'application')} in ${month}.`,
    }),
  ),
  appTool({
    name: 'get_usage_timeseries',
    title: 'Read usage by day',
    route: [UsageReportsController, 'timeseries'],
    input: UsageTimeseriesRequest,
    run: (reports, { app, input }) => reports.timeseries(app, input),
    summary: ({ from, to }) => `Usage from ${from} to ${to}, by day and provider.`,
  }),
  appTool({
    name: 'get_usage_breakdown',
    title: 'Break usage down',
    route: [UsageReportsController, 'breakdown'],
    input: UsageBreakdownRequest,
    run: (reports, { app, input }) => reports.breakdown(app, input),
    summary: ({ by, from, to }) => `Usage from ${from} to ${to}, by ${by}.`,
  }),
  appTool({
    name: 'list_app_events',
    title: 'List recorded requests',
    route: [UsageReportsController, 'list'],
    input: ListEventsRequest,
    run: (reports, { app, input }) => reports.list(app, input),
    summary: ({ events }) => `${counted(events.length, 'recorded request')}.`,
  }),
  appTool({
    name: 'list_rejection_events',
    title: 'List refused calls',
    description:
      'Requests refused before they reached a provider: by a limit, a budget, a plan, a block or the configuration, or because they were not valid; `refusal` says why. Newest first; all refusals of one user for one reason within a minute are one. Pass `next_before_id` as `before_id` to get the next page.',
    route: [UsageReportsController, 'list'],
    input: ListRejectionEventsRequest,
    run: (reports, { app, input }) => reports.list(app, input),
    summary: ({ events }) => `${counted(events.length, 'refusal')}.`,
  }),
  appTool({
    name: 'list_auth_events',
    title: 'List authentication events',
    route: [AuthEventsController, 'list'],
    input: ListAuthEventsRequest,
    run: (events, { app, input }) => events.list(app, input),
    summary: ({ events }) => `${counted(events.length, 'authentication event')}.`,
  }),
  appTool({
    name: 'get_auth_event_summary',
    title: 'Summarize authentication events',
    route: [AuthEventsController, 'summary'],
    input: AuthEventSummaryRequest,
    run: (events, { app, input }) => events.summary(app, input),
    summary: ({ token_exchange: { ok, total }, days }) =>
      `${ok} of ${counted(total, 'token exchange')} succeeded in ${counted(days, 'day')}.`,
  }),
  appTool({
    name: 'preview_enforcement',
    title: 'Preview the enforcement of device proofs',
    description: 'Who would be refused, by reason, day and version, from the attempts of the last days.',
    route: [EnforcementPreviewController, 'preview'],
    input: EnforcementPreviewRequest,
    run: (previews, { app, input }) => previews.preview(app, input),
    summary: ({ attempts, would_reject }) => `${would_reject} of ${counted(attempts, 'attempt')} would be refused.`,
  }),
];
