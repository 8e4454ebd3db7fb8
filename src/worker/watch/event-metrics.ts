/**
 * Counts what the conversations do, as counters of Temporal's own metrics, beside the gauges of conversations in
 * trouble. Each event is counted by the worker that has stored it, so sum over all workers. A log that is rewritten is
 * not counted again.
 */
import { Runtime } from '@temporalio/worker';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { EventLog } from '../../store/ports/log.js';

type Tags = Readonly<Record<string, string>>;

/** Name, unit and meaning of each counter. Names are for ever: dashboards have them. */
export const COUNTERS = {
  colloquy_turns: ['turns', 'Turns that have ended, by status'],
  colloquy_steps: ['steps', 'Steps of turns that have ended'],
  colloquy_model_calls: ['calls', 'Model calls that have ended, by model'],
  colloquy_tokens: ['tokens', 'Tokens of model calls, by model and direction'],
  colloquy_tool_results: ['calls', 'Results of tool calls, by tool and status'],
  colloquy_roll_overs: ['runs', 'Runs of conversations that ended for a new one, by reason'],
  colloquy_waits_opened: ['calls', 'Calls that began to wait for input from outside, by kind'],
  colloquy_waits_answered: ['calls', 'Answers to waiting calls, by kind and answer'],
  colloquy_waits_expired: ['calls', 'Calls whose wait has ended without an answer, by kind'],
} as const;

/** Seconds from the oldest event of each write to the event log until it was stored. */
export const LAG_HISTOGRAM = 'colloquy_log_lag_seconds';
const LAG_MEANING = 'Time from an event until the event log had it, for the oldest of each write';
/** Seconds. Usual are some hundredths; a log that is rebuilt is behind by as much as was lost. */
export const LAG_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600];

export type CounterName = keyof typeof COUNTERS | typeof LAG_HISTOGRAM;
export type Count = (name: CounterName, value: number, tags: Tags) => void;

/** The counters of this process, as its runtime exports them. */
export function runtimeCounters(): Count {
  const { metricMeter } = Runtime.instance();
  const counters = Object.fromEntries(
    Object.entries(COUNTERS).map(([name, [unit, meaning]]) => [
      name,
      metricMeter.createCounter(name, unit, meaning),
    ]),
  );
  const lag = metricMeter.createHistogram(LAG_HISTOGRAM, 'float', 's', LAG_MEANING);
  return (name, value, tags) => {
    if (name === LAG_HISTOGRAM) lag.record(value, tags);
    else counters[name]?.add(value, tags);
  };
}

/** The tag of tools that no agent of the worker declares: a model may call any name, and MCP servers list others. */
const OTHER_TOOL = 'other';

/**
 * The same log, whose appended events are counted.
 * @param tools The names that appear as tags: those of the worker's own agents.
 */
export function countedLog(log: EventLog, count: Count, tools: ReadonlySet<string>): EventLog {
  const append: EventLog['append'] = async (batch) => {
    const result = await log.append(batch);
    // A batch may overlap with the stored events: the new ones are the last.
    if (result.outcome === 'appended' && result.added > 0) {
      const added = batch.events.slice(-result.added);
      for (const event of added) countEvent(event, count, tools);
      countLag(added[0], count);
    }
    return result;
  };
  return new Proxy(log, {
    get: (target, name) => {
      if (name === 'append') return append;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

/** By the clock of this machine; one that is behind the server's shows no lag. */
function countLag(oldest: CanonicalEvent | undefined, count: Count): void {
  if (oldest === undefined) return;
  count(LAG_HISTOGRAM, Math.max(0, Date.now() - Date.parse(oldest.at)) / 1_000, {});
}

function countEvent(event: CanonicalEvent, count: Count, tools: ReadonlySet<string>): void {
  switch (event.type) {
    case 'turn_ended':
      count('colloquy_turns', 1, { status: event.status });
      count('colloquy_steps', event.steps, {});
      return;
    case 'model_call': {
      const { model, usage } = event;
      count('colloquy_model_calls', 1, { model });
      count('colloquy_tokens', usage.inputTokens, { model, direction: 'in' });
      count('colloquy_tokens', usage.outputTokens, { model, direction: 'out' });
      return;
    }
    case 'tool_result':
      count('colloquy_tool_results', 1, {
        tool: tools.has(event.name) ? event.name : OTHER_TOOL,
        status: event.result.status,
      });
      return;
    case 'rolled_over':
      count('colloquy_roll_overs', 1, { reason: event.reason });
      return;
    case 'suspension':
      count('colloquy_waits_opened', 1, { kind: event.suspension.kind });
      return;
    case 'resolution':
      count('colloquy_waits_answered', 1, { kind: event.kind, answer: event.resolution.type });
      return;
    case 'expired':
      count('colloquy_waits_expired', 1, { kind: event.kind });
      return;
    default:
  }
}
