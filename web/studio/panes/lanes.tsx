/** The lanes of the turn at the cursor: model, tools, people, timers, runs and lost attempts over time. */
import type { CanonicalEvent } from 'colloquy/browser';
import { durationWords } from 'colloquy/react';
import { type ReactNode, useMemo } from 'react';
import type { UsedLog } from '../hooks/use-log.js';
import type { LoggedTurn } from '../model/cursor.js';
import { type Chart, chartOf, LANES, placeIn, type Span } from '../model/lanes.js';

const WIDTH = 1_000;
const ROW = 22;
const LEFT = 70;
const LEAST = 4;

export function Lanes(props: {
  readonly events: readonly CanonicalEvent[];
  readonly turn: LoggedTurn;
  readonly log: UsedLog;
}): ReactNode {
  const { events, turn, log } = props;
  // `events` is another array at each render: the log and the bounds of the turn name them.
  const chart = useMemo(() => chartOf(events), [turn.from, turn.to, log.view.replay]);
  const at = log.place.event?.at;
  const took = durationWords(chart.to - chart.from);
  return (
    <figure className="lanes">
      <figcaption className="hint">
        The turn at the cursor ({turn.status ?? 'runs'}), {took}
      </figcaption>
      <svg
        viewBox={`0 0 ${LEFT + WIDTH} ${LANES.length * ROW}`}
        role="img"
        aria-label={labelOf(chart)}
      >
        {LANES.map(([lane, words], row) => (
          <g key={lane} className={lane}>
            <text x={0} y={row * ROW + 15}>
              {words}
            </text>
            <line x1={LEFT} x2={LEFT + WIDTH} y1={(row + 1) * ROW - 1} y2={(row + 1) * ROW - 1} />
            {chart.spans
              .filter((span) => span.lane === lane)
              .map((span, at) => (
                // Several attempts of one model call may be lost.
                <Bar key={`${at} ${span.seq}`} {...{ chart, span, row }} />
              ))}
          </g>
        ))}
        {at === undefined ? undefined : <Cursor chart={chart} at={Date.parse(at)} />}
      </svg>
    </figure>
  );
}

function Bar(props: {
  readonly chart: Chart;
  readonly span: Span;
  readonly row: number;
}): ReactNode {
  const { chart, span, row } = props;
  const x = placeIn(chart, span.from, WIDTH - LEAST);
  const width = Math.max(LEAST, placeIn(chart, span.to, WIDTH - LEAST) - x);
  const { label, from, to, isOpen } = span;
  return (
    <rect x={LEFT + x} y={row * ROW + 4} width={width} height={ROW - 9} rx={3}>
      <title>{`${label}: ${durationWords(to - from)}${isOpen ? ', goes on' : ''}`}</title>
    </rect>
  );
}

function Cursor({ chart, at }: { readonly chart: Chart; readonly at: number }): ReactNode {
  if (at < chart.from || at > chart.to) return undefined;
  const x = LEFT + placeIn(chart, at, WIDTH - LEAST);
  return <line className="cursor" x1={x} x2={x} y1={0} y2={LANES.length * ROW} />;
}

/** The chart in words, for those who do not see it: the time in each lane. */
function labelOf({ spans }: Chart): string {
  const words = LANES.flatMap(([lane, name]) => {
    const own = spans.filter((span) => span.lane === lane);
    if (own.length === 0) return [];
    const ms = own.reduce((sum, { from, to }) => sum + to - from, 0);
    return [`${name}: ${own.length}, ${durationWords(ms)}`];
  });
  return `Time of the turn. ${words.join('. ')}`;
}
