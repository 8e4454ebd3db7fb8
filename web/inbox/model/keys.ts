/** The keys of the inbox. Pure. Enter and Escape are no commands: neither decides anything. */

export type Command =
  | 'next'
  | 'previous'
  | 'select'
  | 'approve'
  | 'deny'
  | 'reply'
  | 'search'
  | 'help'
  | 'undo'
  | 'refresh';

export const KEYS: Readonly<Record<string, { readonly command: Command; readonly text: string }>> =
  {
    j: { command: 'next', text: 'next call' },
    k: { command: 'previous', text: 'previous call' },
    x: { command: 'select', text: 'select the call, or no longer' },
    a: { command: 'approve', text: 'approve the call, or those that are selected' },
    d: { command: 'deny', text: 'deny, with a reason' },
    r: { command: 'reply', text: 'go to the form of the answer' },
    u: { command: 'undo', text: 'take back the last answer while it is held' },
    n: { command: 'refresh', text: 'show new calls' },
    '/': { command: 'search', text: 'search' },
    '?': { command: 'help', text: 'this help' },
  };

export interface PressedKey {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly repeat: boolean;
  /** The key writes text, or belongs to an input method. */
  readonly isWriting: boolean;
}

/** A held key moves on, and decides nothing a second time. */
export function commandOf(pressed: PressedKey): Command | undefined {
  const { key, ctrlKey, metaKey, altKey, repeat, isWriting } = pressed;
  if (isWriting || ctrlKey || metaKey || altKey) return undefined;
  const command = Object.hasOwn(KEYS, key) ? KEYS[key]?.command : undefined;
  return repeat && command !== 'next' && command !== 'previous' ? undefined : command;
}
