/** The cursor on the log: a slider, and buttons for events and turns. */
import type { KeyboardEvent, ReactNode } from 'react';
import type { UsedLog } from '../hooks/use-log.js';
import { type LoggedTurn, type Move, turnAt } from '../model/cursor.js';

const BUTTONS: readonly (readonly [Move, string, string])[] = [
  ['previousTurn', '« turn', 'Previous turn'],
  ['previous', '‹ event', 'Previous event'],
  ['next', 'event ›', 'Next event'],
  ['nextTurn', 'turn »', 'Next turn'],
];

export function Scrubber(props: {
  readonly log: UsedLog;
  readonly turns: readonly LoggedTurn[];
}): ReactNode {
  const { log, turns } = props;
  const { view, index, isLatest, isPlaying, go, goTo, play } = log;
  const { events } = view.replay;
  const event = events[index];
  const turn = turnAt(turns, index);
  const words =
    event === undefined
      ? ''
      : `${event.seq} ${event.type.replaceAll('_', ' ')}${turn === undefined ? '' : `, turn ${turns.indexOf(turn) + 1} of ${turns.length}`}`;
  // Arrows, Home and End are those of the slider itself.
  const onKeyDown = (key: KeyboardEvent): void => {
    if (key.key !== ' ') return;
    key.preventDefault();
    play(!isPlaying);
  };
  return (
    <section className="scrubber" aria-label="Cursor">
      <div className="actions">
        <button type="button" aria-pressed={isPlaying} onClick={() => play(!isPlaying)}>
          {isPlaying ? 'Pause' : 'Play'}
        </button>
        {BUTTONS.map(([move, text, label]) => (
          <button key={move} type="button" aria-label={label} onClick={() => go(move)}>
            {text}
          </button>
        ))}
        <button type="button" aria-pressed={isLatest} onClick={() => go('last')}>
          Latest
        </button>
        <output className="cursor">{words}</output>
      </div>
      <input
        type="range"
        aria-label="Event"
        aria-valuetext={words}
        min={0}
        max={Math.max(0, events.length - 1)}
        value={Math.max(0, index)}
        onKeyDown={onKeyDown}
        onChange={({ target }) => {
          const next = Number(target.value);
          goTo(next >= events.length - 1 ? undefined : events[next]?.seq);
        }}
      />
    </section>
  );
}
