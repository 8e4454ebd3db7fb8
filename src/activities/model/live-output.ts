/** One attempt of a model call on the live plane. */

import type { FailedAttempt } from '../../protocol/conversation/attempts.js';
import type { LiveEvent } from '../../protocol/log/live-events.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import type { CallWriters } from '../../tools/plugins/call-writers.js';
import { type ActivityTools, publishLive, repeatLive } from '../shared/deps.js';
import { ModelStream, type StreamOrigin } from './model-stream.js';

/** The live output of one attempt: its stream, which late watchers receive from the beginning, and its failure. */
export interface LiveOutputFields {
  readonly stream: ModelStream;
  /** Passes the arguments of calls to plugins, in the same pieces, until the end. */
  readonly passTo: (writers: CallWriters) => void;
  readonly fail: (failed: FailedAttempt) => void;
  readonly end: () => void;
}

export function liveOutputFields(
  tools: ActivityTools,
  key: ConversationKey,
  origin: StreamOrigin,
): LiveOutputFields {
  const publish = (event: LiveEvent): void => {
    publishLive(tools, key, event);
  };
  const repeat = (event: LiveEvent): void => {
    repeatLive(tools, key, event);
  };
  const { tenant, conversationId } = key;
  const stream = new ModelStream(origin, publish, repeat);
  const stop = tools.onJoin?.({ tenant, conversationId }, () => {
    stream.joined();
  });
  let written: CallWriters | undefined;
  const end = (): void => {
    stop?.();
    stream.close();
    written?.end();
    written = undefined;
  };
  return {
    stream,
    passTo: (writers) => {
      written = writers;
      stream.onArguments((delta) => {
        written?.piece(delta);
      });
    },
    fail: ({ model: _, ...failure }) => {
      // Streamed output goes out first.
      end();
      publish({ type: 'model_call_failed', ...origin, ...failure });
    },
    end,
  };
}
