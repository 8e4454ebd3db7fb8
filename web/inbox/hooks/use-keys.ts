/** Listens to the keys of the inbox. The choice whether they are on is kept for the browser. */
import { useEffect, useRef, useState } from 'react';
import { type Command, commandOf } from '../model/keys.js';

const KEY = 'colloquy.keys';
/** A key so long after `g` belongs to it. */
const GO_MS = 1_500;

export interface UsedKeys {
  readonly areKeysOn: boolean;
  readonly setKeysOn: (on: boolean) => void;
}

export function useKeys(run: (command: Command) => void): UsedKeys {
  const [areKeysOn, setOn] = useState(() => localStorage.getItem(KEY) !== 'off');
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  });
  useEffect(() => {
    let goesUntil = 0;
    const listen = (event: KeyboardEvent): void => {
      const isGoing = event.timeStamp < goesUntil;
      const pressed = { ...pick(event), isWriting: isWriting(event) };
      goesUntil = event.key === 'g' && !pressed.isWriting ? event.timeStamp + GO_MS : 0;
      const command = isInDialog() ? undefined : commandOf({ ...pressed, isGoing });
      if (command === undefined || (!areKeysOn && command !== 'palette')) return;
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

/** The keys of an open dialog are its own. */
function isInDialog(): boolean {
  return document.querySelector('dialog[open]') !== null;
}

function isWriting({ target, isComposing }: KeyboardEvent): boolean {
  if (isComposing) return true;
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return target.type !== 'checkbox';
  return (
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    target.isContentEditable
  );
}
