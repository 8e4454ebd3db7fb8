/**
 * The floor: the same turns in bare Temporal, as cheap as possible. No transcript, no event log, no request ids, no
 * reads from outside. The update that starts a turn returns at its end, or when it waits for an approval. In workload c
 * waiting calls can be listed by search attributes, as with the engine.
 */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import {
  CancellationScope,
  condition,
  defineQuery,
  defineUpdate,
  proxyActivities,
  setHandler,
  sleep,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import { FLOOR_TIMEOUTS } from '../shared/cells.js';

export interface FloorActivities {
  model(text: string): Promise<string>;
  tool(name: string): Promise<string>;
}

export const SEND = 'send';
export const APPROVE = 'approve';
/** The result of `send` when the turn waits for its approval. */
export const SUSPENDED = 'suspended';

/** The engine's own default for approvals. */
const APPROVAL_TIMEOUT = '24 hours';

const { model, tool } = proxyActivities<FloorActivities>({
  startToCloseTimeout: FLOOR_TIMEOUTS.activity,
});

const STATUS = defineSearchAttributeKey('ColloquyStatus', SearchAttributeType.KEYWORD);
const TOOLS = defineSearchAttributeKey('ColloquyPendingTools', SearchAttributeType.KEYWORD_LIST);
const UNTIL = defineSearchAttributeKey('ColloquyDeadline', SearchAttributeType.DATETIME);

function showWait(isWaiting: boolean): void {
  upsertSearchAttributes([
    { key: STATUS, value: isWaiting ? 'awaiting_input' : 'active' },
    { key: TOOLS, value: isWaiting ? ['gated'] : [] },
    { key: UNTIL, value: isWaiting ? new Date(Date.now() + 86_400_000) : null },
  ]);
}

export async function floor(workload: 'a' | 'b' | 'c' | 'd'): Promise<void> {
  let deadline: CancellationScope | undefined;
  setHandler(defineUpdate<string, [string]>(SEND), async (text) => {
    const answer = await model(text);
    if (workload === 'a') return answer;
    if (workload !== 'b') deadline = startDeadline();
    if (workload === 'c') showWait(true);
    await Promise.all([tool('one'), tool('two')]);
    return workload === 'b' ? model(text) : SUSPENDED;
  });
  setHandler(defineUpdate<string, [string]>(APPROVE), async (text) => {
    deadline?.cancel();
    if (workload === 'c') showWait(false);
    await tool('gated');
    return model(text);
  });
  await condition(() => false);
}

export const RESOLVE = 'resolve';

export interface WaitsInput {
  /** The number of waiting calls. Each has a timer, like a suspension of the engine. */
  readonly waits: number;
  /** Whether a resolved call starts to run. */
  readonly runs: boolean;
}

/** Calls that wait in parallel. A resolution ends one wait: its validator finds it, its handler stops the timer. */
export async function waits(input: WaitsInput): Promise<void> {
  const open = new Map<number, CancellationScope>();
  for (let id = 0; id < input.waits; id += 1) open.set(id, startDeadline());
  setHandler(defineQuery<number>('open'), () => open.size);
  setHandler(
    defineUpdate<string, [{ id: number }]>(RESOLVE),
    ({ id }) => {
      open.get(id)?.cancel();
      open.delete(id);
      if (input.runs) void tool('gated');
      return 'accepted';
    },
    {
      validator: ({ id }: { id: number }) => {
        if (!open.has(id)) throw new Error('nothing waits there');
      },
    },
  );
  await condition(() => false);
}

function startDeadline(): CancellationScope {
  const scope = new CancellationScope({ cancellable: true });
  scope.run(() => sleep(APPROVAL_TIMEOUT)).catch(() => undefined);
  return scope;
}
