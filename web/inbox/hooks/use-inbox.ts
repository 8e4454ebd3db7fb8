/** The state of the inbox, and what its keys do. */
import type { Resolution } from 'colloquy/browser';
import { useWorklist } from 'colloquy/react';
import { useEffect, useState } from 'react';
import type { Session } from '../../session/session.js';
import type { Command } from '../model/keys.js';
import type { Outbox, OutgoingAnswer } from '../model/outbox.js';
import { nameOf, neighbour, type Row } from '../model/rows.js';
import { useChoice } from './use-choice.js';
import { useKeys } from './use-keys.js';
import { useList } from './use-list.js';
import { useOutbox } from './use-outbox.js';

/** Places that keys lead to, by their id. */
export const ANSWER_ID = 'answer';
export const SEARCH_ID = 'search';
const NONE: ReadonlySet<string> = new Set();

/** The calls that the person looks at. */
interface Looking {
  /** `ref` of the call in the detail. */
  readonly current: string | undefined;
  readonly selected: ReadonlySet<string>;
  readonly isDenying: boolean;
}

const NOTHING: Looking = { current: undefined, selected: NONE, isDenying: false };

export function useInbox(session: Session) {
  const [choice, setChoice] = useChoice();
  const { view } = useWorklist(session.client, choice.view === 'all' ? { mine: false } : {});
  const list = useList(view, choice);
  const { outbox, answers } = useOutbox(session);
  const [looking, setLooking] = useState(NOTHING);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const { rows } = list;
  const { current, selected } = looking;
  const look = (part: Partial<Looking>): void => setLooking((before) => ({ ...before, ...part }));
  const open = (ref: string | undefined): void => look({ current: ref, isDenying: false });
  useSendOnceOver({ rows, answers, outbox });
  const decide = (resolution: Resolution): void => {
    const next = decideCalls({ rows, looking, outbox, resolution });
    look({ current: next, selected: NONE, isDenying: false });
  };
  const select = (ref: string | undefined): void =>
    look({ selected: toggled(rows, selected, ref) });
  const ifMayAnswer = (act: () => void) => (): void => {
    if (session.caller.rights.includes('answer')) act();
  };
  const commands: Readonly<Record<Command, () => void>> = {
    next: () => open(neighbour(rows, current, { step: 1 })),
    previous: () => open(neighbour(rows, current, { step: -1 })),
    select: () => select(current),
    approve: ifMayAnswer(() => decide({ type: 'approve' })),
    deny: ifMayAnswer(() => look({ isDenying: decidable(rows, looking).length > 0 })),
    reply: () => focusIn(`#${ANSWER_ID} :is(input, select, textarea)`),
    search: () => focusIn(`#${SEARCH_ID}`),
    help: () => setHelpOpen(true),
    undo: () => undoLast(outbox),
    refresh: list.refresh,
  };
  const keys = useKeys((command) => commands[command]());
  const row = rows.find(({ item }) => item.ref === current);
  return {
    ...{ choice, setChoice, view, list, outbox, answers, looking, look, open, select, decide },
    ...{ keys, isHelpOpen, setHelpOpen, row },
  };
}

interface Deciding {
  readonly rows: readonly Row[];
  readonly looking: Looking;
  readonly outbox: Outbox;
  readonly resolution: Resolution;
}

/** Holds the decision for each of its calls. Returns the call to look at next. */
function decideCalls({ rows, looking, outbox, resolution }: Deciding): string | undefined {
  const calls = decidable(rows, looking);
  for (const row of calls) hold(outbox, row, { resolution });
  if (calls.length === 0) return looking.current;
  const skips = (ref: string): boolean => outbox.of(ref) !== undefined;
  return neighbour(rows, looking.current, { step: 1, skips });
}

/** The calls that a decision is for: those that are selected, else the open one. Only approvals are decided. */
function decidable(rows: readonly Row[], { selected, current }: Looking): readonly Row[] {
  return rows.filter(({ item, isOver }) => {
    const isMeant = selected.size > 0 ? selected.has(item.ref) : item.ref === current;
    return isMeant && !isOver && item.kind === 'approval' && item.mayAnswer;
  });
}

/** `argsDigest`: of the arguments that the person sees, where they are not those of the row. */
export function hold(
  outbox: Outbox,
  { item }: Row,
  answer: { readonly resolution: Resolution; readonly argsDigest?: string | undefined },
): void {
  const { ref, conversationId, toolCallId, deadline } = item;
  const { resolution, argsDigest = item.argsDigest } = answer;
  const title = `${nameOf(item)}, ${conversationId}`;
  const call = { ref, conversationId, toolCallId, deadline, title };
  outbox.hold({ ...call, resolution, argsDigest });
}

function toggled(
  rows: readonly Row[],
  selected: ReadonlySet<string>,
  ref: string | undefined,
): ReadonlySet<string> {
  const row = rows.find(({ item }) => item.ref === ref);
  if (row === undefined || row.isOver) return selected;
  const next = new Set(selected);
  if (!next.delete(row.item.ref)) next.add(row.item.ref);
  return next;
}

function undoLast(outbox: Outbox): void {
  const last = outbox.getSnapshot().findLast(({ state }) => state === 'held');
  if (last !== undefined) outbox.undo(last.ref);
}

/** A call that ends while an answer is held: the answer is sent, for its verdict names who was first. */
function useSendOnceOver(props: {
  readonly rows: readonly Row[];
  readonly answers: readonly OutgoingAnswer[];
  readonly outbox: Outbox;
}): void {
  const { rows, answers, outbox } = props;
  useEffect(() => {
    const held = answers.filter(({ state }) => state === 'held');
    if (held.length === 0) return;
    const over = new Set(rows.filter(({ isOver }) => isOver).map(({ item }) => item.ref));
    for (const { ref } of held) if (over.has(ref)) outbox.sendNow(ref);
  }, [rows, answers, outbox]);
}

function focusIn(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.focus();
}
