/** The state of the inbox, and what its keys do. */
import type { Resolution } from 'colloquy/browser';
import { useWorklist } from 'colloquy/react';
import { useEffect, useState } from 'react';
import type { Session } from '../../session/session.js';
import { type Command, GO } from '../model/keys.js';
import type { Outbox, OutgoingAnswer } from '../model/outbox.js';
import { isIn, isWide, nameOf, neighbour, type Row, type ViewName } from '../model/rows.js';
import {
  allOf,
  type Known,
  type Selected,
  type Summary,
  summaryOf,
  toggled,
} from '../model/selection.js';
import { type Draft, useDrafts } from './drafts.js';
import { callInAddress, onWayBack, useCallInAddress, useChoice, useTitle } from './use-choice.js';
import { useKeys } from './use-keys.js';
import { useList } from './use-list.js';
import { useOutbox } from './use-outbox.js';
import { useSnoozes } from './use-snoozes.js';

/** Places that keys lead to, by their id. */
export const ANSWER_ID = 'answer';
export const DECISION_ID = 'decision';
export const EDIT_ID = 'edit';
export const SEARCH_ID = 'search';
export const SNOOZE_ID = 'snooze';
const NONE: Selected = new Set();

export type DialogName = 'help' | 'palette' | 'approve' | 'deny';

/** The calls that the person looks at. */
interface Looking {
  /** `ref` of the call in the detail. */
  readonly current: string | undefined;
  readonly selected: Selected;
  /** `ref` of the row that was selected last: where a range begins. */
  readonly anchor: string | undefined;
  readonly isDenying: boolean;
  readonly dialog: DialogName | undefined;
}

const NOTHING: Looking = {
  ...{ current: undefined, selected: NONE, anchor: undefined, isDenying: false, dialog: undefined },
};

export type UsedInbox = ReturnType<typeof useInbox>;

export function useInbox(session: Session) {
  const [choice, setChoice] = useChoice();
  const { view } = useWorklist(session.client, isWide(choice.view) ? { mine: false } : {});
  const { snoozes, snooze } = useSnoozes(session);
  const list = useList(view, choice, snoozes);
  const { outbox, answers } = useOutbox(session);
  const drafts = useDrafts();
  const [looking, setLooking] = useState(() => ({ ...NOTHING, current: callInAddress() }));
  const { rows } = list;
  const row = rows.find(({ item }) => item.ref === looking.current);
  const look = (part: Partial<Looking>): void => setLooking((before) => ({ ...before, ...part }));
  useSendOnceOver({ rows, answers, outbox });
  useCallInAddress(looking.current);
  useEffect(() => onWayBack(() => look({ current: callInAddress() })), []);
  useTitle(list.waiting);
  const parts = { session, rows, items: view.items, row, looking, look, outbox, drafts };
  const acts = actsOf(parts);
  const keys = useKeys((command) => run(command));
  const snoozeRow = (ref: string, until: number | undefined): void => {
    const seen = { now: Date.now(), snoozes: snooze(ref, until) };
    const item = rows.find((one) => one.item.ref === ref)?.item;
    // A row that the view keeps would come back as a new one.
    if (item !== undefined && isIn(item, choice.view, seen)) return;
    list.remove(ref);
    look({ current: neighbour(rows, ref, { step: 1, skips: (one) => one === ref }) });
  };
  const run = (command: Command): void => {
    if (isView(command)) setChoice({ ...choice, view: command });
    else if (command === 'refresh') list.refresh();
    else acts[command]();
  };
  return {
    ...{ choice, setChoice, view, list, outbox, answers, looking, look, drafts, keys, row, run },
    ...{ snoozes, snooze: snoozeRow, ...bulkOf(parts) },
    answer: (answer: GivenAnswer): void => answerOpen(parts, answer),
    open: (ref: string | undefined): void => look({ current: ref, isDenying: false }),
    select: (ref: string, isRange: boolean): void =>
      look({
        selected: toggled(rows, looking.selected, {
          ref,
          from: isRange ? looking.anchor : undefined,
        }),
        anchor: ref,
      }),
  };
}

interface Parts {
  readonly session: Session;
  readonly rows: readonly Row[];
  readonly items: Known['items'];
  /** The open call. */
  readonly row: Row | undefined;
  readonly looking: Looking;
  readonly look: (part: Partial<Looking>) => void;
  readonly outbox: Outbox;
  readonly drafts: ReturnType<typeof useDrafts>;
}

type Acts = Readonly<Record<Exclude<Command, ViewName | 'refresh'>, () => void>>;

function actsOf(parts: Parts): Acts {
  const { session, rows, row, looking, look, outbox, drafts } = parts;
  const { current, selected } = looking;
  const move = (step: 1 | -1) => (): void =>
    look({ current: neighbour(rows, current, { step }), isDenying: false });
  const ifMayAnswer = (act: () => void) => (): void => {
    if (session.caller.rights.includes('answer')) act();
  };
  return {
    next: move(1),
    previous: move(-1),
    select: () => {
      if (current !== undefined)
        look({ selected: toggled(rows, selected, { ref: current }), anchor: current });
    },
    selectAll: () => look({ selected: selected.size > 0 ? NONE : allOf(rows) }),
    approve: ifMayAnswer(() => {
      if (selected.size > 0) look({ dialog: 'approve' });
      else if (row !== undefined && drafts.draftOf(row.item.ref).edit !== undefined)
        focusIn(`#${EDIT_ID} .colloquy-approve`);
      else click(`#${DECISION_ID} .good`);
    }),
    edit: ifMayAnswer(() => click(`#${DECISION_ID} .edit`)),
    deny: ifMayAnswer(() => {
      if (selected.size > 0) look({ dialog: 'deny' });
      else look({ isDenying: row !== undefined && isDecidable(row) });
    }),
    reply: () => focusIn(`#${ANSWER_ID} :is(input, select, textarea)`),
    snooze: () => focusIn(`#${SNOOZE_ID} button`),
    search: () => focusIn(`#${SEARCH_ID}`),
    help: () => look({ dialog: 'help' }),
    palette: () => look({ dialog: 'palette' }),
    undo: () => undoLast(outbox),
  };
}

interface GivenAnswer {
  readonly resolution: Resolution;
  /** The digest of the arguments that the person sees. */
  readonly argsDigest?: string | undefined;
}

/** Holds the answer, unless another one is on its way, and goes on to the next call. */
function answerOpen({ row, rows, look, outbox }: Parts, answer: GivenAnswer): void {
  if (row === undefined) return;
  const { item } = row;
  const { resolution, argsDigest = item.argsDigest } = answer;
  if (outbox.hold([answerTo(item, resolution, argsDigest)]) === 0) return;
  // The field of the answer is left, so that keys are commands again.
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  look({ current: afterDecision(rows, item.ref, outbox), isDenying: false });
}

/** The decision with what the person wants to be remembered. */
export function decisionOf(
  decision: Extract<Resolution, { type: 'approve' | 'deny' }>,
  { remember }: Draft,
): Resolution {
  return remember === undefined ? decision : { ...decision, remember };
}

function isDecidable({ item, isOver }: Row): boolean {
  return !isOver && item.kind === 'approval' && item.mayAnswer;
}

function afterDecision(rows: readonly Row[], ref: string, outbox: Outbox): string | undefined {
  return neighbour(rows, ref, { step: 1, skips: (one) => outbox.of(one) !== undefined });
}

function bulkOf({ rows, items: waiting, looking, look, outbox, drafts }: Parts) {
  const { selected } = looking;
  const summary = (): Summary =>
    summaryOf({ rows, items: waiting }, selected, (ref) => {
      if (outbox.isBusy(ref)) return 'answered already';
      return drafts.draftOf(ref).edit === undefined ? undefined : 'being edited';
    });
  const decide = (resolution: Resolution): void => {
    const { items } = summary();
    outbox.hold(items.map((item) => answerTo(item, resolution, item.argsDigest)));
    look({ selected: NONE, dialog: undefined });
  };
  return { summary, decide };
}

function answerTo(item: Row['item'], resolution: Resolution, argsDigest: string | undefined) {
  const { ref, conversationId, toolCallId, deadline } = item;
  const title = `${nameOf(item)}, ${conversationId}`;
  return { ref, conversationId, toolCallId, deadline, title, resolution, argsDigest };
}

function undoLast(outbox: Outbox): void {
  const last = outbox.getSnapshot().findLast(({ state }) => state === 'held');
  if (last !== undefined) outbox.undo(last.group);
}

/** A call that ends while an answer is held: the answer is sent, for its verdict names who was first. */
function useSendOnceOver(props: {
  readonly rows: readonly Row[];
  readonly answers: readonly OutgoingAnswer[];
  readonly outbox: Outbox;
}): void {
  const { rows, answers, outbox } = props;
  useEffect(() => {
    const held = new Set(answers.flatMap(({ ref, state }) => (state === 'held' ? [ref] : [])));
    if (held.size === 0) return;
    const over = rows.filter(({ item, isOver }) => isOver && held.has(item.ref));
    if (over.length > 0) outbox.sendNow(new Set(over.map(({ item }) => item.ref)));
  }, [rows, answers, outbox]);
}

function isView(command: Command): command is ViewName {
  return Object.values(GO).some((one) => one.command === command);
}

/** The button knows which arguments are shown; where it is off or absent, the key does nothing. */
function click(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.click();
}

function focusIn(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.focus();
}
