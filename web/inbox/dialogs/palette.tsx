/** All commands and views by their names. Enter runs the entry; of a decision it only leads to its buttons. */
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import { Dialog } from '../../shared/dialog.js';
import { type Command, type Entry, GO, KEYS, matching } from '../model/keys.js';

export interface PaletteEntry extends Entry {
  readonly run: () => void;
}

/** Decisions have keys of their own: Enter approves nothing, here as elsewhere. */
const WITHOUT: readonly Command[] = ['approve', 'palette'];

export function commandEntries(run: (command: Command) => void): readonly PaletteEntry[] {
  const acts = Object.entries(KEYS)
    .filter(([, { command }]) => !WITHOUT.includes(command))
    .map(([keys, { command, text }]) => ({ name: command, text, keys, run: () => run(command) }));
  const views = Object.entries(GO).map(([key, { command, text }]) => {
    return { name: command, text: `show ${text}`, keys: `g ${key}`, run: () => run(command) };
  });
  return [...views, ...acts];
}

export function Palette(props: {
  readonly entries: readonly PaletteEntry[];
  readonly onClose: () => void;
}): ReactNode {
  const { entries, onClose } = props;
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const found = matching(entries, text);
  const chosen = found[Math.min(at, found.length - 1)];
  const run = (entry: PaletteEntry | undefined): void => {
    if (entry === undefined) return;
    onClose();
    // Commands that lead somewhere find the page without the dialog.
    setTimeout(entry.run);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setAt((found.indexOf(chosen as PaletteEntry) + step + found.length) % found.length);
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      run(chosen);
    }
  };
  return (
    <Dialog title="Commands" onClose={onClose}>
      <input
        className="wide"
        role="combobox"
        aria-label="Command"
        aria-expanded="true"
        aria-controls="commands"
        aria-activedescendant={chosen === undefined ? undefined : optionId(chosen)}
        autoComplete="off"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <Options found={found} chosen={chosen} onRun={run} />
      <p className="hint" role="status">
        {found.length === 0 ? 'No such command.' : `${found.length} commands.`}
      </p>
    </Dialog>
  );
}

function Options(props: {
  readonly found: readonly PaletteEntry[];
  readonly chosen: PaletteEntry | undefined;
  readonly onRun: (entry: PaletteEntry) => void;
}): ReactNode {
  const { found, chosen, onRun } = props;
  return (
    <ul id="commands" role="listbox" aria-label="Commands" className="commands">
      {found.map((entry) => (
        <li
          key={entry.name}
          id={optionId(entry)}
          role="option"
          aria-selected={entry === chosen}
          onClick={() => onRun(entry)}
        >
          {entry.text}
          {entry.keys === undefined ? undefined : <kbd>{entry.keys}</kbd>}
        </li>
      ))}
    </ul>
  );
}

function optionId({ name }: PaletteEntry): string {
  return `command-${encodeURIComponent(name)}`;
}
