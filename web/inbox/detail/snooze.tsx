/** Hides a call from the person's own view for a time. */
import { type ReactNode, useState } from 'react';
import { SNOOZE_ID } from '../hooks/use-inbox.js';
import { SNOOZE_STEPS, WAKE_BEFORE_MS } from '../model/snooze.js';

export function Snooze(props: {
  /** Milliseconds since 1970. Absent: the call is not snoozed. */
  readonly until: number | undefined;
  /** ISO 8601 */
  readonly deadline: string;
  readonly onSnooze: (until: number | undefined) => void;
}): ReactNode {
  const { until, deadline, onSnooze } = props;
  const [date, setDate] = useState('');
  const chosen = Date.parse(date);
  const isLate = Date.parse(deadline) - Date.now() < WAKE_BEFORE_MS;
  return (
    <section className="extend" id={SNOOZE_ID} aria-label="Snooze">
      <span>Snooze</span>
      {until === undefined ? undefined : (
        <>
          <span>until {new Date(until).toLocaleString()}</span>
          <button type="button" onClick={() => onSnooze(undefined)}>
            Show again
          </button>
        </>
      )}
      {SNOOZE_STEPS.map(({ text, of }) => (
        <button key={text} type="button" disabled={isLate} onClick={() => onSnooze(of(Date.now()))}>
          {text}
        </button>
      ))}
      <input
        type="datetime-local"
        aria-label="Snooze until"
        value={date}
        disabled={isLate}
        onChange={(event) => setDate(event.target.value)}
      />
      <button
        type="button"
        disabled={isLate || !(chosen > Date.now())}
        onClick={() => onSnooze(chosen)}
      >
        Until then
      </button>
      <span className="hint">
        {isLate ? 'The call ends too soon.' : 'In your view only; back 10 minutes before its end.'}
      </span>
    </section>
  );
}
