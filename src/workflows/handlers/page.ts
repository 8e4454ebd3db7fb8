/**
 * The page of the Temporal UI for a conversation, as Markdown. The UI squeezes tables and cuts long lines of code, so
 * calls are lists with short commands. Foreign text stands in code spans only: the UI renders HTML and links. The UI
 * puts the page into an address, so its size is bounded.
 */
import { requestersOf } from '../../core/calls/audience.js';
import type { ConversationState } from '../../core/state/state.js';
import {
  labelText,
  sampleAnswer,
  whoMayAnswer,
  whyTakenBack,
} from '../../core/view/sample-answer.js';
import { snapshotOf } from '../../core/view/snapshot.js';
import type { PendingCall } from '../../protocol/calls/suspensions.js';
import type { TurnEnded } from '../../protocol/log/events.js';
import { workflowIdFor } from '../../protocol/values/ids.js';
import { QUERIES, SIGNALS } from '../../protocol/workflow/messaging.js';
import { safeJson, shellQuote, shownJson, shownText } from '../../protocol/workflow/shown-text.js';

/** A usual call has about 700 characters. The first call is always shown: at most about 4,000. */
const MAX_PAGE_CHARS = 10_000;
const MAX_INPUT_CHARS = 800;

export interface PageOptions {
  /** The Temporal namespace of the conversation's workflow. */
  readonly namespace: string;
  /** Address of the conversation in the web page, by the memo of the workflow: a text, where a client has set it. */
  readonly page?: unknown;
  /** The last turn that ended, if it is known. */
  readonly ended?: TurnEnded | undefined;
}

export function detailsText(
  state: ConversationState,
  { namespace, page, ended }: PageOptions,
): string {
  const { turn, pending, queued, agent, status, seq } = snapshotOf(state);
  const parts = [
    `**${status}** · agent ${shownText(agent)} · log at seq ${seq}`,
    turn === undefined ? 'No turn is running.' : `Turn \`${turn.turnId}\`, step ${turn.step}.`,
  ];
  if (typeof page === 'string') parts.push(`[Open in the web page](${page})`);
  if (turn === undefined && ended?.error !== undefined) {
    const { code, message } = ended.error;
    parts.push(`Turn \`${ended.turnId}\` failed: ${shownText(code)}, ${shownText(message)}`);
  }
  if (queued.length > 0) parts.push(`${queued.length} message(s) wait.`);
  const target = `--namespace ${shellQuote(namespace)} \\\n  --workflow-id ${workflowIdFor(state)}`;
  return [...parts, ...waitingParts(state, pending, target)].join('\n\n');
}

function waitingParts(
  state: ConversationState,
  pending: readonly PendingCall[],
  target: string,
): readonly string[] {
  const parts: string[] = [];
  let chars = 0;
  for (const [index, call] of pending.entries()) {
    const part = `**${index + 1} of ${pending.length}:** ${callPart(state, call, target)}`;
    chars += part.length;
    if (index > 0 && chars > MAX_PAGE_CHARS) {
      parts.push(`… ${pending.length - index} more. All of them:`);
      parts.push(block(`temporal workflow query ${target} \\\n  --name ${QUERIES.pending}`));
      break;
    }
    parts.push(part);
  }
  if (parts.length > 0)
    parts.push(
      'In the commands, `operator` stands for you: the sender of a signal is not verified.',
    );
  return parts;
}

function callPart(state: ConversationState, call: PendingCall, target: string): string {
  const { kind, name, toolCallId, turnId, deadline, claimBy, reason, prompt } = call;
  const open = state.calls[toolCallId];
  const sample = sampleAnswer(call, open === undefined ? [] : requestersOf(state, open));
  const facts = [
    `until ${deadline}${claimBy === undefined ? '' : `; unclaimed, until ${claimBy}`}`,
    `who may answer: ${whoMayAnswer(call)}`,
    ...(reason === undefined ? [] : [`why: ${shownText(reason, 500)}`]),
    `arguments: ${shownJson(prompt, MAX_INPUT_CHARS)}`,
    ...whyTakenBack(call),
    ...(sample?.hint === undefined ? [] : [sample.hint]),
  ];
  const head = `**${kind}** of ${shownText(name)}${labelText(call)}, call ${shownText(toolCallId)} of \`${turnId}\``;
  const list = facts.map((fact) => `- ${fact}`).join('\n');
  if (sample === undefined)
    return `${head}\n\n${list}\n\nNo signal by hand can answer it, because the sender of a signal is not verified: answer it through the application.`;
  const input = safeJson(sample.answer, 1);
  const command = `temporal workflow signal ${target} \\\n  --name ${SIGNALS.resolveToolCall} --input '${input}'`;
  return `${head}\n\n${list}\n\n${block(command)}`;
}

function block(command: string): string {
  return `\`\`\`\n${command}\n\`\`\``;
}
