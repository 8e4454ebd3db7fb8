/** The time that a call has left: words that change each second, and a bar. */
import type { ReactNode } from 'react';
import { useNow } from '../../shared/now.js';
import { deadlineState } from '../model/times.js';

export function Deadline(props: {
  readonly openedAt: string;
  readonly deadline: string;
}): ReactNode {
  const { text, left, isSoon } = deadlineState(props, useNow());
  return (
    <span className={isSoon ? 'deadline soon' : 'deadline'}>
      <time dateTime={props.deadline}>{text}</time>
      <span className="bar" aria-hidden="true">
        <span style={{ inlineSize: `${Math.round(left * 100)}%` }} />
      </span>
    </span>
  );
}
