/** The time of requests to models, as a histogram of Temporal's own metrics. */
import { Runtime } from '@temporalio/worker';
import type { MeasureRequest } from '../../activities/shared/deps.js';

/** Seconds of each request. The name is for ever: dashboards have it. */
export const MODEL_HISTOGRAM = 'colloquy_model_request_seconds';
const MEANING = 'Time of each request to a model until its answer is whole, by model and outcome';
/** Seconds. Reasoning models take minutes. */
export const MODEL_BUCKETS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_800];

/** The histogram of this process, as its runtime exports it. */
export function measureModels(): MeasureRequest {
  const { metricMeter } = Runtime.instance();
  const histogram = metricMeter.createHistogram(MODEL_HISTOGRAM, 'float', 's', MEANING);
  return (model, outcome, seconds) => {
    histogram.record(seconds, { model, outcome });
  };
}
