/** A dialog over the page, which is open while the component is mounted. Escape closes it, and decides nothing. */
import { type ReactNode, useEffect, useId, useRef } from 'react';

export function Dialog(props: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}): ReactNode {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={props.onClose}>
      <h2 id={id}>{props.title}</h2>
      {props.children}
    </dialog>
  );
}
