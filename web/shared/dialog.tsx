/** A dialog over the page, which is open while the component is mounted. Escape closes it, and decides nothing. */
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';

export function Dialog(props: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}): ReactNode {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const opened = dialog.current;
    opened?.showModal();
    // Gives the focus back to where it was.
    return () => opened?.close();
  }, []);
  return (
    // The `close` event comes later, and would close a dialog that a key opened meanwhile.
    <dialog ref={dialog} aria-labelledby={id} onCancel={props.onClose}>
      <h2 id={id}>{props.title}</h2>
      {props.children}
    </dialog>
  );
}
