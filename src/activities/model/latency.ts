/** Measures how long each request to a model takes, for the metrics of the worker. */
import type { MeasureRequest } from '../shared/deps.js';

interface Timed<Answer> {
  readonly model: string;
  readonly signal: AbortSignal;
  readonly run: () => Promise<Answer>;
}

/** Runs the request, and measures it however it ends. */
export async function timed<Answer>(
  measure: MeasureRequest | undefined,
  { model, signal, run }: Timed<Answer>,
): Promise<Answer> {
  if (measure === undefined) return await run();
  const startedAt = performance.now();
  let outcome: Parameters<MeasureRequest>[1] = 'failed';
  try {
    const answer = await run();
    outcome = 'answered';
    return answer;
  } finally {
    const ended = outcome === 'failed' && signal.aborted ? 'aborted' : outcome;
    measure(model, ended, (performance.now() - startedAt) / 1_000);
  }
}
