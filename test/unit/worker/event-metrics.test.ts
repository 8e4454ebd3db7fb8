/** Counters of what conversations do: each stored event once. */
import { expect, it } from 'vitest';
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';
import type { AppendBatch, AppendResult, EventLog } from '../../../src/store/ports/log.js';
import { type Count, countedLog, LAG_HISTOGRAM } from '../../../src/worker/watch/event-metrics.js';
import { promise } from '../../support/promise.js';
import { KEY, stamped, started, turn } from '../../support/samples/log-events.js';

/** A log that says of each batch what the test wants; its methods need their object, as those of real logs do. */
class SaidLog {
  readonly #results: AppendResult[];
  constructor(...results: readonly object[]) {
    this.#results = results as unknown as AppendResult[];
  }
  append(_batch: AppendBatch): Promise<AppendResult | undefined> {
    return Promise.resolve(this.#results.shift());
  }
  storeId(): Promise<string> {
    return Promise.resolve(`${this.#results.length} left`);
  }
}

const EVENTS = stamped([started(), ...turn('t1')]);
const batchOf = (events: readonly CanonicalEvent[]): AppendBatch => ({
  ...KEY,
  runId: 'r',
  events,
});

function counted(...results: readonly object[]) {
  const seen: string[] = [];
  const lags: number[] = [];
  const count: Count = (name, value, tags) => {
    if (name === LAG_HISTOGRAM) lags.push(value);
    else seen.push(`${name} ${value} ${JSON.stringify(tags)}`);
  };
  const tools = new Set(['refund']);
  const log = countedLog(new SaidLog(...results) as unknown as EventLog, count, tools);
  return { log, seen, lags };
}

it('counts the events that were added, and no others', promise('G343'), async () => {
  const all = EVENTS.length;
  const { log, seen } = counted(
    { outcome: 'appended', added: all },
    { outcome: 'appended', added: 0 },
    { outcome: 'gap', lastSeq: 1 },
    { outcome: 'rewritten', added: all },
  );
  await log.append(batchOf(EVENTS));
  const first = [...seen];
  expect(first.filter((line) => line.startsWith('colloquy_turns '))).toEqual([
    'colloquy_turns 1 {"status":"completed"}',
  ]);
  expect(first).toContainEqual(
    expect.stringMatching(/^colloquy_tokens \d+ \{"model":"[^"]+","direction":"in"\}/),
  );
  for (let rest = 0; rest < 3; rest += 1) await log.append(batchOf(EVENTS));
  expect(seen).toEqual(first);
});

it('counts only the new end of a batch that overlaps', promise('G343'), async () => {
  const { log, seen } = counted({ outcome: 'appended', added: 1 });
  const end = EVENTS.findIndex(({ type }) => type === 'turn_ended');
  await log.append(batchOf(EVENTS.slice(0, end + 1)));
  expect(seen).toEqual([
    'colloquy_turns 1 {"status":"completed"}',
    expect.stringMatching(/^colloquy_steps [1-9]\d* \{\}$/),
  ]);
});

it('counts results by tool and status, and roll-overs by reason, in tags of bounded number', async () => {
  const bodies = ['refund', 'invented_by_the_model', 'constructor'].map((name) => ({
    ...{ type: 'tool_result', turnId: 't1', toolCallId: `call_${name}`, name },
    result: { status: 'completed', output: 1 },
  }));
  const events = [...bodies, { type: 'rolled_over', reason: 'suggested', droppedMessages: 0 }];
  const { log, seen } = counted({ outcome: 'appended', added: events.length });
  await log.append(batchOf(events as unknown as readonly CanonicalEvent[]));
  expect(seen).toEqual([
    'colloquy_tool_results 1 {"tool":"refund","status":"completed"}',
    'colloquy_tool_results 1 {"tool":"other","status":"completed"}',
    'colloquy_tool_results 1 {"tool":"other","status":"completed"}',
    'colloquy_roll_overs 1 {"reason":"suggested"}',
  ]);
});

it('measures for each write how long its oldest new event took', promise('G343'), async () => {
  const { log, lags } = counted(
    { outcome: 'appended', added: 2 },
    { outcome: 'appended', added: 0 },
  );
  const at = (secondsAgo: number) => new Date(Date.now() - secondsAgo * 1_000).toISOString();
  const events = [90, 60, 30].map((ago, index) => ({ ...EVENTS[index], at: at(ago) }));
  for (let write = 0; write < 2; write += 1)
    await log.append(batchOf(events as readonly CanonicalEvent[]));
  expect(lags).toEqual([expect.closeTo(60, 0)]);
});

it('leaves the rest of the log as it is', async () => {
  const { log } = counted({}, {});
  expect(await log.storeId()).toBe('2 left');
});
