/** The keys, and the switch that turns them off. */
import type { ReactNode } from 'react';
import { Dialog } from '../../shared/dialog.js';
import { GO, KEYS } from '../model/keys.js';

export function Help(props: {
  readonly areKeysOn: boolean;
  readonly onKeysOn: (on: boolean) => void;
  readonly onClose: () => void;
}): ReactNode {
  const { areKeysOn, onKeysOn, onClose } = props;
  const keys = [
    ...Object.entries(KEYS),
    ['Ctrl+K', { text: 'all commands, by their names' }] as const,
    ...Object.entries(GO).map(([key, entry]) => [`g ${key}`, entry] as const),
  ];
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="keys">
        {keys.map(([key, { text }]) => (
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
      <button type="button" onClick={onClose}>
        Close
      </button>
    </Dialog>
  );
}
