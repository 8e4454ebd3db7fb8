/** Asks a tool for the outcome of a lost run. Runs in the worker. */

import { TEXTS } from '../../protocol/failures/texts.js';
import { isRecord } from '../../protocol/values/json.js';
import type { ReconcileToolResult } from '../../protocol/workflow/activities.js';
import { logException } from '../shared/tool-logger.js';
import { outputEnvelope } from './run.js';
import { timed } from './timed.js';
import type { ToolRun } from './tool-run.js';

/**
 * | the tool returns | outcome |
 * |---|---|
 * | `{happened: true, result}` | `happened`, with the result as a run would have given it |
 * | `{happened: false}` | `not_happened` |
 * | `'unknown'`, or anything else | `unknown`: an unclear answer does not count |
 * | nothing within its time | `unknown` |
 *
 * @throws the error of the tool, and the reason of `signal` once that fires.
 */
export async function reconcileToolCall(run: ToolRun): Promise<ReconcileToolResult> {
  const { tool } = run;
  const ask = tool.reconcile;
  if (ask === undefined) return { outcome: 'unknown', reason: TEXTS.noLongerAvailable(tool.name) };
  const timeoutMs = run.timeoutMs ?? tool.timeouts.runMs;
  const end = await timed({ signal: run.signal, timeoutMs }, (signal) =>
    ask(run.input, { ...run.ctx, signal }),
  );
  switch (end.end) {
    case 'timeout':
      return { outcome: 'unknown', reason: TEXTS.timeout(timeoutMs) };
    case 'threw':
      logException(
        { logger: run.ctx.logger, name: tool.name, phase: 'reconcile' },
        run.ctx,
        end.error,
      );
      throw end.error;
    case 'returned':
      return saidOf(run, end.value);
  }
}

async function saidOf(run: ToolRun, said: unknown): Promise<ReconcileToolResult> {
  if (said === 'unknown') return { outcome: 'unknown', reason: 'the tool does not know' };
  const happened = isRecord(said) ? said['happened'] : undefined;
  if (happened === false) return { outcome: 'not_happened' };
  // Without a result there is nothing to report to the model, and `undefined` may be a result.
  if (happened === true && isRecord(said) && 'result' in said)
    return { outcome: 'happened', envelope: await outputEnvelope(run, said['result']) };
  return {
    outcome: 'unknown',
    reason: 'reconcile returned neither {happened, result}, {happened: false} nor "unknown"',
  };
}
