/** The keys, and the switch that turns them off. */
import { type ReactNode, useEffect, useRef } from 'react';
import { KEYS } from './model/keys.js';

export function Help(props: {
  readonly areKeysOn: boolean;
  readonly onKeysOn: (on: boolean) => void;
  readonly onClose: () => void;
}): ReactNode {
  const { areKeysOn, onKeysOn, onClose } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="help" onClose={onClose}>
      <h2 id="help">Keys</h2>
      <dl className="keys">
        {Object.entries(KEYS).map(([key, { text }]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <p>Enter never approves, and Escape never denies. Ctrl+Enter sends a form or a reason.</p>
      <label className="check">
        <input
          type="checkbox"
          checked={areKeysOn}
          onChange={(event) => onKeysOn(event.target.checked)}
        />{' '}
        Keys are on
      </label>
      <button type="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}
