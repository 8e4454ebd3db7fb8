/**
 * Plays the answers of a what-if against a recorded turn. Pure.
 *
 * P1  A call gets the recorded result of the call with the same tool and arguments; of several, in their order, each
 *     once. No other result is ever made.
 * P2  A call without such a result ends the what-if.
 * P3  Messages that joined the turn behind a step join the what-if behind the same step.
 */
import type {
  AssistantPart,
  Message,
  ToolCallPart,
  ToolResultPart,
} from '../../protocol/conversation/messages.js';
import { textOf } from '../../protocol/conversation/messages.js';
import { canonicalJson, utf8Bytes } from '../../protocol/values/json.js';
import { cutText } from '../../protocol/values/well-formed.js';
import type {
  WhatIfAnswer,
  WhatIfEnd,
  WhatIfSide,
  WhatIfStep,
} from '../../protocol/workflow/what-if.js';
import type { RecordedStep, RecordedTurn } from './recorded.js';

export interface Played {
  /** The messages that the model call after these answers reads behind those before the turn. */
  readonly messages: readonly Message[];
  /** Absent: another model call follows. */
  readonly end?: WhatIfEnd;
}

/** @param answers those of the steps until now, oldest first; only the last one may end the what-if */
export function played(turn: RecordedTurn, answers: readonly WhatIfAnswer[]): Played {
  const records = new Records(turn);
  const messages: Message[] = [];
  for (const [index, { parts }] of answers.entries()) {
    const step = index + 1;
    const { turnId } = turn;
    messages.push({ role: 'assistant', id: `what_if.${step}`, turnId, step, parts });
    const calls = callsIn(parts);
    const recorded = turn.steps[index];
    if (calls.length === 0 && !goesOn(turn, index))
      return { messages, end: { state: 'ended', reason: 'answered' } };
    const results: ToolResultPart[] = [];
    for (const call of calls) {
      const found = records.take(call);
      if (typeof found === 'string')
        return {
          messages,
          end: { state: 'diverged', diverged: { step, ...shownCall(call), reason: found } },
        };
      if (found.endsTurn) return { messages, end: { state: 'ended', reason: 'answered' } };
      results.push({ ...found.result, toolCallId: call.toolCallId });
    }
    if (results.length > 0)
      messages.push({ role: 'tool', id: `what_if.${step}.results`, turnId, step, parts: results });
    messages.push(...(recorded?.added ?? []));
  }
  return { messages };
}

/** Whether the recorded turn went on behind a step without calls, since a message had joined it. */
function goesOn({ steps }: RecordedTurn, index: number): boolean {
  const recorded = steps[index];
  return (
    recorded !== undefined &&
    callsIn(recorded.parts).length === 0 &&
    recorded.added.length > 0 &&
    steps.length > index + 1
  );
}

interface Found {
  readonly result: ToolResultPart;
  readonly endsTurn: boolean;
}

/** The recorded results by tool and arguments. */
class Records {
  readonly #left = new Map<string, (Found | 'no_result')[]>();

  constructor({ steps, endingCalls }: RecordedTurn) {
    for (const { parts, results, hasEndedTurn } of steps)
      for (const call of callsIn(parts)) {
        const result = results?.parts.find(({ toolCallId }) => toolCallId === call.toolCallId);
        const endsTurn = hasEndedTurn === true && endingCalls.has(call.toolCallId);
        const key = keyOf(call);
        const found = result === undefined ? ('no_result' as const) : { result, endsTurn };
        this.#left.set(key, [...(this.#left.get(key) ?? []), found]);
      }
  }

  take(call: ToolCallPart): Found | 'no_result' | 'not_recorded' {
    return this.#left.get(keyOf(call))?.shift() ?? 'not_recorded';
  }
}

/** The tool and its arguments; the order of their fields does not count. */
function keyOf({ name, argumentsJson }: ToolCallPart): string {
  return `${name}\n${canonicalArguments(argumentsJson)}`;
}

function canonicalArguments(text: string): string {
  try {
    return canonicalJson(JSON.parse(text));
  } catch {
    return text;
  }
}

function callsIn(parts: readonly AssistantPart[]): readonly ToolCallPart[] {
  return parts.filter((part) => part.type === 'tool_call');
}

/** Characters of each text and of all arguments of one side, the first that fit; see `MAX_STEP_BYTES`. */
const SHOWN_CHARS = [10_000, 2_500, 500];
const SHOWN_LEAST_CHARS = 100;
/** A step of a report as JSON: those of all steps fit into one payload. */
const MAX_STEP_BYTES = 48 * 1024;
const MAX_SHOWN_CALLS = 64;

/** A step of the recorded turn beside an answer of the what-if. `step` counts from 1. */
export function stepShown(
  turn: RecordedTurn,
  step: number,
  answer: WhatIfAnswer & NonNullable<RecordedStep['called']>,
): WhatIfStep {
  const recorded = turn.steps[step - 1];
  const { parts, model, usage } = answer;
  const shown = (chars: number): WhatIfStep => ({
    step,
    compared: comparedTo(recorded, parts),
    ...(recorded === undefined
      ? {}
      : { recorded: sideOf(recorded.parts, chars, recorded.called ?? {}) }),
    answer: sideOf(parts, chars, { model, usage }),
  });
  for (const chars of SHOWN_CHARS) {
    const one = shown(chars);
    if (utf8Bytes(JSON.stringify(one)) <= MAX_STEP_BYTES) return one;
  }
  return shown(SHOWN_LEAST_CHARS);
}

function comparedTo(
  recorded: RecordedStep | undefined,
  parts: readonly AssistantPart[],
): WhatIfStep['compared'] {
  if (recorded === undefined) return 'added';
  const wanted = callsIn(recorded.parts).map(keyOf);
  const made = callsIn(parts).map(keyOf);
  const isSame = wanted.length === made.length && wanted.every((key, index) => key === made[index]);
  if (!isSame) return 'differs';
  return made.length > 0 || textOf(recorded.parts) === textOf(parts) ? 'same' : 'differs';
}

function sideOf(
  parts: readonly AssistantPart[],
  chars: number,
  called: Partial<NonNullable<RecordedStep['called']>>,
): WhatIfSide {
  const calls = callsIn(parts).slice(0, MAX_SHOWN_CALLS);
  const each = Math.max(20, Math.floor(chars / Math.max(1, calls.length)));
  return {
    text: cutText(textOf(parts), chars),
    calls: calls.map((call) => shownCall(call, each)),
    ...called,
  };
}

function shownCall(
  { name, argumentsJson }: ToolCallPart,
  chars = 2_000,
): { readonly name: string; readonly arguments: string } {
  return { name: cutText(name, 128), arguments: cutText(argumentsJson, chars) };
}
