/** Keeps the search attributes of a conversation, which lists of the Temporal UI show, with few upserts. */
import type { SearchAttributeUpdatePair } from '@temporalio/common';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { upsertSearchAttributes } from '@temporalio/workflow';
import type { ConversationState } from '../../core/state/state.js';
import { openSuspensions } from '../../core/state/state.js';
import type { Suspension } from '../../protocol/calls/suspensions.js';
import { openSearchStatus, type SearchStatus } from '../../protocol/conversation/statuses.js';
import { MAX_PENDING_TOOLS_BYTES } from '../../protocol/limits/limits.js';
import { utf8Bytes } from '../../protocol/values/json.js';
import { SEARCH_ATTRIBUTES } from '../../protocol/workflow/messaging.js';

const STATUS = defineSearchAttributeKey(SEARCH_ATTRIBUTES.status, SearchAttributeType.KEYWORD);
const AGENT = defineSearchAttributeKey(SEARCH_ATTRIBUTES.agent, SearchAttributeType.KEYWORD);
const PENDING_TOOLS = defineSearchAttributeKey(
  SEARCH_ATTRIBUTES.pendingTools,
  SearchAttributeType.KEYWORD_LIST,
);
const DEADLINE = defineSearchAttributeKey(SEARCH_ATTRIBUTES.deadline, SearchAttributeType.DATETIME);

/** Ids of the shown suspensions, with kind and deadline: a new id or a moved deadline causes an upsert. */
export function shownIds(state: ConversationState): ReadonlySet<string> {
  return new Set(openSuspensions(state).map(shownId));
}

function shownId({ toolCallId, kind, deadline }: Suspension): string {
  return `${toolCallId}:${kind}:${deadline}`;
}

/**
 * Keeps the search attributes with few upserts: when a suspension opens, and when the last one closes. One upsert per
 * turn would cost a fifth of the server's throughput.
 */
export class SearchAttributes {
  readonly #enabled: boolean;
  #shown: ReadonlySet<string>;
  #agent: string;

  /** `agent`: the one that the attributes have. */
  constructor(enabled: boolean, shown: ReadonlySet<string>, agent: string) {
    this.#enabled = enabled;
    this.#shown = shown;
    this.#agent = agent;
  }

  /** True when an upsert was made. */
  update(state: ConversationState): boolean {
    if (!this.#enabled) return false;
    const isHandedOver = state.agent !== this.#agent;
    this.#agent = state.agent;
    if (isHandedOver) this.#upsert([{ key: AGENT, value: state.agent }]);
    return this.#updateCalls(state) || isHandedOver;
  }

  #updateCalls(state: ConversationState): boolean {
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

/** Bounds the list, because the server ends a workflow whose attribute is too large; `…` stands for omitted names. */
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
