/** Visible calls as the model writes them, for the readers of the space that the agent is in. */
import type {
  CallHookContext,
  CallWriter,
  WrittenPiece,
  WrittenStep,
} from '../../define/plugin/call-hooks.js';
import type { PluginRef } from '../../define/tool/state-access.js';
import { MAX_SHOWN_BYTES } from './limits.js';
import { callerOf, SPACES } from './port.js';
import { isVisible } from './shown.js';
import type { AgentState } from './state.js';

/** Milliseconds after which the whole text of a call goes out again, for readers that have come meanwhile. */
const WHOLE_MS = 1_000;
/** Calls of one answer that are shown while they are written. */
const MAX_CALLS = 20;
/** After these the agent is elsewhere: what the answer holds behind one is for another space, or for none. */
const MOVES: readonly string[] = ['enter_space', 'leave_space'];

interface Written {
  text: string;
  wholeAt: number;
  toolCallId: string | undefined;
}

/** Undefined where the agent is in no space. */
export function writerOf(
  self: PluginRef<AgentState>,
  { turnId, step, attempt }: WrittenStep,
  ctx: CallHookContext,
): CallWriter | undefined {
  const { active } = ctx.getState(self);
  if (active === undefined) return undefined;
  const spaces = ctx.port(SPACES);
  const caller = callerOf(ctx);
  const answer = `${turnId}.${step}`;
  const calls = new Map<number, Written>();
  let movesAt = Number.POSITIVE_INFINITY;
  const show = ({ tool, index, ...piece }: WrittenPiece): void => {
    const { text: before = '', wholeAt = Number.NEGATIVE_INFINITY } = calls.get(index) ?? {};
    const text = before + piece.text;
    const isNew = !calls.has(index);
    if (text.length > MAX_SHOWN_BYTES || (isNew && calls.size === MAX_CALLS)) return;
    const now = performance.now();
    const isWhole = now - wholeAt >= WHOLE_MS;
    const toolCallId = piece.toolCallId ?? calls.get(index)?.toolCallId;
    calls.set(index, { text, wholeAt: isWhole ? now : wholeAt, toolCallId });
    spaces.writes(caller, active.spaceId, {
      answer,
      piece: {
        ...{ id: `${answer}.${index}`, author: caller.member, toolName: tool.name, attempt },
        ...(toolCallId === undefined ? {} : { toolCallId }),
        ...(isWhole ? { offset: 0, text } : { offset: before.length, text: piece.text }),
      },
    });
  };
  return {
    piece: (piece) => {
      if (MOVES.includes(piece.tool.name)) movesAt = Math.min(movesAt, piece.index);
      else if (isVisible(piece.tool) && piece.index < movesAt) show(piece);
    },
    end: () => {
      if (calls.size > 0) spaces.writes(caller, active.spaceId, { answer, attempt });
    },
  };
}
