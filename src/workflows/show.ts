/** What an operator sees in the Temporal UI: current details (no history cost) and search attributes (few upserts). */
import type { SearchAttributeUpdatePair } from '@temporalio/common';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { upsertSearchAttributes } from '@temporalio/workflow';
import { snapshotOf } from '../core/snapshot.js';
import type { ConversationState } from '../core/state.js';
import { openSuspensions } from '../core/state.js';
import type { TurnEnded } from '../protocol/events.js';
import { workflowIdFor } from '../protocol/ids.js';
import { utf8Bytes } from '../protocol/json.js';
import { MAX_PENDING_TOOLS_BYTES } from '../protocol/limits.js';
import { SEARCH_ATTRIBUTES, SIGNALS } from '../protocol/messaging.js';
import { openSearchStatus, type SearchStatus } from '../protocol/statuses.js';
import type { PendingCall, Suspension, SuspensionKind } from '../protocol/suspensions.js';

const STATUS = defineSearchAttributeKey(SEARCH_ATTRIBUTES.status, SearchAttributeType.KEYWORD);
const PENDING_TOOLS = defineSearchAttributeKey(
  SEARCH_ATTRIBUTES.pendingTools,
  SearchAttributeType.KEYWORD_LIST,
);
const DEADLINE = defineSearchAttributeKey(SEARCH_ATTRIBUTES.deadline, SearchAttributeType.DATETIME);

const BY_HAND: Readonly<Record<SuspensionKind, string>> = {
  approval: '{"type":"approve"}',
  elicitation: '{"type":"answer","value":…}',
  client_execution: '{"type":"result","value":…}',
  external_execution: '{"type":"result","value":…}',
  outcome: '{"type":"outcome","value":…}',
};

/** The page that the UI shows for a running conversation. `ended`: the last turn that did, if that is known. */
export function detailsText(state: ConversationState, ended?: TurnEnded): string {
  const snapshot = snapshotOf(state);
  const { turn, pending, queued, agent, status, seq } = snapshot;
  const lines = [
    `**${status}** · agent \`${agent}\` · log at seq ${seq}`,
    '',
    turn === undefined ? 'No turn is running.' : `Turn \`${turn.turnId}\`, step ${turn.step}.`,
  ];
  if (turn === undefined && ended?.error !== undefined) {
    const { code, message } = ended.error;
    lines.push('', `Turn \`${ended.turnId}\` failed: \`${code}\`, ${cell(message)}`);
  }
  if (queued.length > 0) lines.push('', `${queued.length} message(s) wait.`);
  if (pending.length > 0) lines.push('', ...pendingTable(pending), '', ...byHand(state, pending));
  return lines.join('\n');
}

function pendingTable(pending: readonly PendingCall[]): readonly string[] {
  return [
    '| waits for | tool | call | until | why |',
    '|---|---|---|---|---|',
    ...pending.map(
      (entry) =>
        `| ${entry.kind} | ${entry.name} | \`${entry.toolCallId}\` | ${entry.deadline} | ${cell(entry.reason ?? '')} |`,
    ),
  ];
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ').slice(0, 200);
}

function byHand(state: ConversationState, pending: readonly PendingCall[]): readonly string[] {
  const [first] = pending;
  if (first === undefined) return [];
  const { toolCallId, kind, ask, argsDigest } = first;
  // An answer to a later question of one call must say which it is for.
  const digest = ask === undefined ? '' : `,"argsDigest":"${argsDigest ?? ''}"`;
  const payload = `{"toolCallId":"${toolCallId}","resolution":${BY_HAND[kind]}${digest},"actor":{"id":"<you>"}}`;
  return [
    'Resolve by hand:',
    '```',
    `temporal workflow signal -w ${workflowIdFor(state)} --name ${SIGNALS.resolveToolCall} \\`,
    `  --input '${payload}'`,
    '```',
  ];
}

/** What the attributes show: whatever of it is new is written. A moved deadline is. */
export function shownIds(state: ConversationState): ReadonlySet<string> {
  return new Set(openSuspensions(state).map(shownId));
}

function shownId({ toolCallId, kind, deadline }: Suspension): string {
  return `${toolCallId}:${kind}:${deadline}`;
}

/**
 * Keeps the search attributes by the frugal rule: written when a suspension opens, and when the last one closes. One upsert
 * a turn would cost a fifth of the server's throughput.
 */
export class SearchAttributes {
  readonly #enabled: boolean;
  #shown: ReadonlySet<string>;

  constructor(enabled: boolean, shown: ReadonlySet<string>) {
    this.#enabled = enabled;
    this.#shown = shown;
  }

  /** True when something was written. */
  update(state: ConversationState): boolean {
    if (!this.#enabled) return false;
    const open = openSuspensions(state);
    const opened = open.some((suspension) => !this.#shown.has(shownId(suspension)));
    if (!opened && !(open.length === 0 && this.#shown.size > 0)) return false;
    this.#shown = new Set(open.map(shownId));
    const deadlines = open.map((entry) => entry.deadline).sort();
    const [earliest] = deadlines;
    this.#upsert([
      { key: STATUS, value: openSearchStatus(open.length) },
      { key: PENDING_TOOLS, value: boundedNames(open.map((entry) => entry.name)) },
      { key: DEADLINE, value: earliest === undefined ? null : new Date(earliest) },
    ]);
    return true;
  }

  closed(): void {
    if (this.#enabled) this.#upsert([{ key: STATUS, value: 'closed' satisfies SearchStatus }]);
  }

  #upsert(pairs: SearchAttributeUpdatePair[]): void {
    upsertSearchAttributes(pairs);
  }
}

/** The server ends a workflow whose attribute is too large, so the list says `…` where it leaves names out. */
function boundedNames(names: readonly string[]): string[] {
  const shown: string[] = [];
  let bytes = 0;
  for (const name of new Set(names)) {
    bytes += utf8Bytes(name) + 3;
    if (bytes > MAX_PENDING_TOOLS_BYTES) return [...shown, '…'];
    shown.push(name);
  }
  return shown;
}
