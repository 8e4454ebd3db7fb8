/**
 * Counts the conversations whose workflow fails or is slow, as gauges of Temporal's own metrics. The SDK exports them
 * as the process has configured it (`Runtime.install({ telemetryOptions: { metrics } })`), beside
 * `temporal_workflow_task_execution_failed` and the rest. Only the worker that leads the sweep counts, so take the
 * maximum over all workers.
 */
import { Runtime } from '@temporalio/worker';
import type { TroubleCounts } from '../../projection/duties/trouble-watch.js';

export const FAILING_GAUGE = 'colloquy_conversations_failing';
export const SLOW_GAUGE = 'colloquy_conversations_slow';

export function countTroubles(): (counts: TroubleCounts) => void {
  const { metricMeter } = Runtime.instance();
  const unit = 'conversations';
  const failing = metricMeter.createGauge(
    FAILING_GAUGE,
    'int',
    unit,
    'Open conversations whose workflow tasks fail',
  );
  const slow = metricMeter.createGauge(
    SLOW_GAUGE,
    'int',
    unit,
    'Open conversations whose workflow tasks only time out',
  );
  return (counts) => {
    failing.set(counts.failing);
    slow.set(counts.slow);
  };
}
