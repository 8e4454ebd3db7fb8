/** The keys of the inbox. Pure. Enter and Escape are no commands: neither decides anything. */
import type { ViewName } from './rows.js';

export type Act =
  | 'next'
  | 'previous'
  | 'select'
  | 'selectAll'
  | 'approve'
  | 'edit'
  | 'deny'
  | 'reply'
  | 'snooze'
  | 'search'
  | 'help'
  | 'undo'
  | 'refresh'
  | 'palette';

export type Command = Act | ViewName;

/** In the order of the help. */
export const KEYS: Readonly<Record<string, { readonly command: Act; readonly text: string }>> = {
  j: { command: 'next', text: 'next call' },
  k: { command: 'previous', text: 'previous call' },
  x: { command: 'select', text: 'select the call, or no longer' },
  '*': { command: 'selectAll', text: 'select all that are shown, or none' },
  a: { command: 'approve', text: 'approve the call, or those that are selected' },
  e: { command: 'edit', text: 'change the arguments before approving' },
  d: { command: 'deny', text: 'deny, with a reason' },
  r: { command: 'reply', text: 'go to the form of the answer' },
  s: { command: 'snooze', text: 'hide the call from your own view for a time' },
  u: { command: 'undo', text: 'take back the last answer while it is held' },
  n: { command: 'refresh', text: 'show new calls' },
  '/': { command: 'search', text: 'search' },
  '?': { command: 'help', text: 'this help' },
};

/** Keys after `g`. */
export const GO: Readonly<Record<string, { readonly command: ViewName; readonly text: string }>> = {
  i: { command: 'mine', text: 'the calls that you may answer' },
  r: { command: 'roles', text: 'those that you may answer by a role' },
  e: { command: 'expiring', text: 'those with less than an hour left' },
  s: { command: 'snoozed', text: 'those that you have snoozed' },
  u: { command: 'outcome', text: 'those whose outcome is unknown' },
  a: { command: 'all', text: 'all that wait' },
};

export interface PressedKey {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly repeat: boolean;
  /** The key writes text, or belongs to an input method. */
  readonly isWriting: boolean;
  /** `g` was pressed just before. */
  readonly isGoing?: boolean;
}

/** A held key moves on, and decides nothing a second time. */
export function commandOf(pressed: PressedKey): Command | undefined {
  const { key, ctrlKey, metaKey, altKey, repeat, isWriting, isGoing = false } = pressed;
  if (key === 'k' && ctrlKey !== metaKey && !altKey && !repeat) return 'palette';
  if (isWriting || ctrlKey || metaKey || altKey) return undefined;
  const keys: Readonly<Record<string, { readonly command: Command }>> = isGoing ? GO : KEYS;
  const command = Object.hasOwn(keys, key) ? keys[key]?.command : undefined;
  return repeat && command !== 'next' && command !== 'previous' ? undefined : command;
}

/** For buttons of decisions: Enter presses none of them. With Ctrl or Meta it is a command of its form. */
export function notByEnter(event: {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  preventDefault(): void;
}): void {
  if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey) event.preventDefault();
}

export interface Entry {
  readonly name: string;
  readonly text: string;
  /** As a person presses them. */
  readonly keys?: string;
}

/** The entries that have all words of the text, in any order; those whose name begins with it first. */
export function matching<One extends Entry>(entries: readonly One[], text: string): readonly One[] {
  const words = text.toLowerCase().split(/\s+/);
  const found = entries.filter(({ text: own }) =>
    words.every((word) => own.toLowerCase().includes(word)),
  );
  const begins = ({ text: own }: One): boolean => own.toLowerCase().startsWith(words[0] ?? '');
  return [...found.filter(begins), ...found.filter((one) => !begins(one))];
}
