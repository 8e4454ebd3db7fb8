/** Listens to the keys of the inbox. The choice whether they are on is kept for the browser. */
import { useEffect, useRef, useState } from 'react';
import { type Command, commandOf } from '../model/keys.js';

const KEY = 'colloquy.keys';

export function useKeys(run: (command: Command) => void): {
  readonly areKeysOn: boolean;
  readonly setKeysOn: (on: boolean) => void;
} {
  const [areKeysOn, setOn] = useState(() => localStorage.getItem(KEY) !== 'off');
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  });
  useEffect(() => {
    if (!areKeysOn) return;
    const listen = (event: KeyboardEvent): void => {
      const command = commandOf({ ...pick(event), isWriting: isWriting(event) });
      if (command === undefined) return;
      event.preventDefault();
      latest.current(command);
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, [areKeysOn]);
  const setKeysOn = (on: boolean): void => {
    localStorage.setItem(KEY, on ? 'on' : 'off');
    setOn(on);
  };
  return { areKeysOn, setKeysOn };
}

function pick({ key, ctrlKey, metaKey, altKey, repeat }: KeyboardEvent) {
  return { key, ctrlKey, metaKey, altKey, repeat };
}

/** Also in an open dialog, whose keys are its own. */
function isWriting({ target, isComposing }: KeyboardEvent): boolean {
  if (isComposing || document.querySelector('dialog[open]') !== null) return true;
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return target.type !== 'checkbox';
  return (
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    target.isContentEditable
  );
}
