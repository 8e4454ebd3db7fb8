/**
 * Events of visible calls on the stream of a space, by the names that Hsafa gives them: `tool.started`,
 * `tool.streaming`, `tool.done`, `tool.error`. Wire format; pure.
 */
import type { Json } from '../values/json.js';
import type {
  SpaceAuthor,
  SpaceFrame,
  SpaceMessage,
  SpaceMessageStatus,
  StreamedArguments,
} from './spaces.js';

/** A state of a call, for a page that knows these events alone. */
export interface ToolEvent {
  /** `tool.started` comes again for each further state before the end: `requires_action`, and `running` after it. */
  readonly type: 'tool.started' | 'tool.done' | 'tool.error';
  readonly messageId: string;
  readonly author: SpaceAuthor;
  readonly toolName: string;
  readonly toolCallId: string;
  readonly status: SpaceMessageStatus;
  readonly input: Json;
  readonly output?: Json;
  readonly error?: Json;
}

/**
 * An event of a space, as clients deliver it: a frame of its stream, or the state of a call. Only `message`, `ready` and
 * `reset` have a place, `change`, from which a reader goes on; the event of a call comes before the message that has it.
 */
export type SpaceEvent =
  | Exclude<SpaceFrame, { readonly type: 'tool.streaming' }>
  | ToolEvent
  | ({ readonly type: 'tool.streaming' } & StreamedArguments);

/** The events that a frame stands for, in their order. */
export function eventsOf(frame: SpaceFrame): readonly SpaceEvent[] {
  if (frame.type === 'tool.streaming') return [{ type: frame.type, ...frame.piece }];
  const call = frame.type === 'message' ? toolEventOf(frame.message) : undefined;
  return call === undefined ? [frame] : [call, frame];
}

const TYPES = {
  running: 'tool.started',
  requires_action: 'tool.started',
  complete: 'tool.done',
  error: 'tool.error',
} as const satisfies Record<SpaceMessageStatus, ToolEvent['type']>;

/** The event that a message stands for in its present state. Undefined: it shows no call of a tool. */
export function toolEventOf({
  id: messageId,
  author,
  kind,
  status,
  metadata = {},
}: SpaceMessage): ToolEvent | undefined {
  const { toolName, toolCallId, input = null, output, error } = metadata;
  if (kind !== 'tool' || typeof toolName !== 'string' || typeof toolCallId !== 'string')
    return undefined;
  return {
    ...{ type: TYPES[status], messageId, author, toolName, toolCallId, status, input },
    ...(output === undefined ? {} : { output }),
    ...(error === undefined ? {} : { error }),
  };
}
