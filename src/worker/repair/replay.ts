/** Checks whether a history replays with the workflow code of this package. */
import type { PayloadCodec } from '@temporalio/common';
import type { WorkerOptions } from '@temporalio/worker';
import type { Logger } from '../../define/tool/context.js';
import type { HistoryEvent } from '../../projection/source/history-tail.js';
import { firstLineOf } from '../../protocol/values/trouble.js';
import { HINT_SINK } from '../../protocol/workflow/messaging.js';
import { WorkerWithoutVmTimeout } from '../sdk-workarounds/worker-without-vm-timeout.js';
import { PAYLOAD_CONVERTER_PATH, workflowCode } from '../temporal/bundle.js';
import { type DoneTask, through } from './history.js';

export interface ReplayOptions {
  readonly codecs: readonly PayloadCodec[];
  /** @defaultValue the code of this package */
  readonly workflowBundle?: WorkerOptions['workflowBundle'];
  /** @defaultValue the one of this package */
  readonly payloadConverterPath?: string;
  readonly logger?: Pick<Logger, 'warn' | 'error'>;
  /** Called behind each replay of a search, with the number of replays that it may take. */
  readonly onReplayed?: (done: number, total: number) => void;
}

const IGNORED = { fn: () => undefined, callDuringReplay: false };

/** The first line of the replay's error; undefined when the history replays. */
export async function replayError(
  events: readonly HistoryEvent[],
  { codecs, workflowBundle, payloadConverterPath = PAYLOAD_CONVERTER_PATH, logger }: ReplayOptions,
): Promise<string | undefined> {
  try {
    await WorkerWithoutVmTimeout.runReplayHistory(
      {
        workflowBundle: workflowBundle ?? (await workflowCode({ logger })),
        dataConverter: { payloadConverterPath, payloadCodecs: [...codecs] },
        sinks: { [HINT_SINK]: { hint: IGNORED, transcript: IGNORED } },
      },
      { events: [...events] },
    );
    return undefined;
  } catch (error) {
    return firstLineOf(error instanceof Error ? error.message : String(error));
  }
}

/**
 * The first completed task that does not replay, as an index into `tasks`, and the error; undefined when all replay.
 */
export async function firstRefused(
  events: readonly HistoryEvent[],
  tasks: readonly DoneTask[],
  options: ReplayOptions,
): Promise<{ readonly place: number; readonly error: string } | undefined> {
  const last = tasks.at(-1);
  if (last === undefined) return undefined;
  const total = 1 + Math.ceil(Math.log2(tasks.length));
  let done = 0;
  const replayed = async (task: DoneTask): Promise<string | undefined> => {
    const refused = await replayError(through(events, task), options);
    done += 1;
    options.onReplayed?.(done, total);
    return refused;
  };
  let error = await replayed(last);
  if (error === undefined) return undefined;
  // A history that replays through one task replays through all before it.
  let [good, bad] = [-1, tasks.length - 1];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    const task = tasks[middle];
    if (task === undefined) break;
    const refused = await replayed(task);
    if (refused === undefined) good = middle;
    else {
      bad = middle;
      error = refused;
    }
  }
  return { place: bad, error };
}
