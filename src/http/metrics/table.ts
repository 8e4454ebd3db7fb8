/** The metrics of an API process. Names are for ever: dashboards have them. docs/deploying.md has the same table. */

interface MetricRow {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly meaning: string;
}

export const API_METRICS = {
  colloquy_http_requests_total: {
    type: 'counter',
    labels: ['method', 'route', 'status'],
    meaning: 'requests that are over; `status="aborted"`: the caller left before the answer began',
  },
  colloquy_http_request_seconds: {
    type: 'histogram',
    labels: ['method', 'route'],
    meaning: 'time of each request until its answer is sent, without streams',
  },
  colloquy_http_problems_total: {
    type: 'counter',
    labels: ['code'],
    meaning: 'answers that are problems, by the code of the [failure table](errors.md)',
  },
  colloquy_http_streams_open: {
    type: 'gauge',
    labels: [],
    meaning: 'event streams that are open',
  },
  colloquy_verdicts_total: {
    type: 'counter',
    labels: ['request', 'verdict'],
    meaning: 'verdicts on answers, claims, extensions and progress of calls',
  },
  colloquy_queued_total: {
    type: 'counter',
    labels: ['route'],
    meaning: 'inputs that no worker took in time, and that wait in Temporal for one',
  },
  colloquy_waits_open: {
    type: 'gauge',
    labels: ['kind'],
    meaning: 'calls that wait for input from outside',
  },
  colloquy_waits_overdue: {
    type: 'gauge',
    labels: ['kind'],
    meaning: 'those whose deadline has passed, and whose wait no worker has ended yet',
  },
  colloquy_waits_oldest_seconds: {
    type: 'gauge',
    labels: ['kind'],
    meaning: 'for how long the oldest of them has waited',
  },
  colloquy_conversations_failing: {
    type: 'gauge',
    labels: [],
    meaning: 'open conversations whose workflow fails ([what to do](failing-workflows.md))',
  },
  colloquy_conversations_slow: {
    type: 'gauge',
    labels: [],
    meaning: 'open conversations whose workflow is slow',
  },
  colloquy_webhooks_pending: {
    type: 'gauge',
    labels: [],
    meaning: 'deliveries of [webhooks](webhooks.md) that wait for their next attempt',
  },
  colloquy_webhooks_dead: {
    type: 'gauge',
    labels: [],
    meaning: 'deliveries that are not tried again by themselves',
  },
  colloquy_webhooks_oldest_seconds: {
    type: 'gauge',
    labels: [],
    meaning: 'for how long the oldest delivery that is pending has waited',
  },
  colloquy_store_up: {
    type: 'gauge',
    labels: [],
    meaning: '1 when the event log could be counted, else 0: then the gauges above are not known',
  },
} as const satisfies Readonly<Record<string, MetricRow>>;

export type ApiMetricName = keyof typeof API_METRICS;
