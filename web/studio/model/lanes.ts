/** The work of one turn in lanes over time: where it waited, and for what. Pure. */
import type { CanonicalEvent } from 'colloquy/browser';

export type LaneName = 'model' | 'tools' | 'people' | 'timers' | 'runs' | 'lost';

export const LANES: readonly (readonly [LaneName, string])[] = [
  ['model', 'Model'],
  ['tools', 'Tools'],
  ['people', 'People'],
  ['timers', 'Timers'],
  ['runs', 'Runs'],
  ['lost', 'Lost'],
];

/** A piece of work, or a moment: `from` equals `to`. Milliseconds since 1970. */
export interface Span {
  readonly lane: LaneName;
  readonly from: number;
  readonly to: number;
  /** The event that ends it, or that it stands for. */
  readonly seq: number;
  readonly label: string;
  /** Under way at the last of the events. */
  readonly isOpen?: true;
}

export interface Chart {
  readonly from: number;
  readonly to: number;
  readonly spans: readonly Span[];
}

/** @param events of one turn, in order */
export function chartOf(events: readonly CanonicalEvent[]): Chart {
  const maker = new ChartMaker();
  for (const event of events) maker.take(event);
  return maker.end();
}

interface Begun {
  readonly lane: LaneName;
  readonly from: number;
  readonly seq: number;
  readonly label: string;
}

class ChartMaker {
  readonly #spans: Span[] = [];
  readonly #open = new Map<string, Begun>();
  #from: number | undefined;
  #to = 0;

  take(event: CanonicalEvent): void {
    const at = Date.parse(event.at);
    this.#from ??= at;
    this.#to = Math.max(this.#to, at);
    const { seq } = event;
    switch (event.type) {
      case 'turn_started':
        this.#begin('model', { lane: 'model', from: at, seq, label: 'model' });
        return;
      case 'model_call': {
        const { failedAttempts = [], model, finishReason } = event;
        this.#close('model', at, { seq, label: `${model}, ${finishReason}` });
        for (const { attempt, code } of failedAttempts)
          this.#moment('lost', at, { seq, label: `attempt ${attempt}: ${code}` });
        return;
      }
      case 'tool_call':
        this.#begin(event.call.toolCallId, {
          lane: 'tools',
          from: at,
          seq,
          label: event.call.name,
        });
        return;
      case 'suspension': {
        const { toolCallId, name, kind } = event.suspension;
        this.#close(toolCallId, at, { seq, label: name });
        this.#begin(toolCallId, { lane: 'people', from: at, seq, label: `${name}, ${kind}` });
        return;
      }
      case 'resolution':
        this.#close(event.toolCallId, at, { seq, label: event.resolution.type });
        this.#begin(event.toolCallId, { lane: 'tools', from: at, seq, label: event.toolCallId });
        return;
      case 'expired':
        this.#close(event.toolCallId, at, { seq, label: 'expired' });
        this.#moment('timers', at, { seq, label: 'deadline' });
        return;
      case 'tool_result':
        this.#close(event.toolCallId, at, { seq, label: `${event.name}, ${event.result.status}` });
        this.#begin('model', { lane: 'model', from: at, seq, label: 'model' });
        return;
      case 'turn_ended':
        this.#open.delete('model');
        return;
      default:
        this.#other(event, at);
    }
  }

  end(): Chart {
    const left = [...this.#open.values()].map(
      (begun): Span => ({ ...begun, to: this.#to, isOpen: true }),
    );
    return { from: this.#from ?? 0, to: this.#to, spans: [...this.#spans, ...left] };
  }

  #other(event: CanonicalEvent, at: number): void {
    const { type, seq } = event;
    const label = type.replaceAll('_', ' ');
    if (type === 'suspension_expiring' || type === 'inbox_paused' || type === 'extended')
      this.#moment('timers', at, { seq, label });
    else if (type === 'rolled_over' || type === 'run_ended' || type === 'conversation_started')
      this.#moment('runs', at, { seq, label });
    else if (type === 'tool_lost' || type === 'lease_lost' || type === 'events_lost')
      this.#moment('lost', at, { seq, label });
  }

  #begin(key: string, begun: Begun): void {
    this.#open.set(key, begun);
  }

  #close(
    key: string,
    at: number,
    { seq, label }: { readonly seq: number; readonly label: string },
  ) {
    const begun = this.#open.get(key);
    if (begun === undefined) return;
    this.#open.delete(key);
    // The time between an answer and its record is no work.
    if (begun.from < at || begun.lane !== 'tools')
      this.#spans.push({ lane: begun.lane, from: begun.from, to: at, seq, label });
  }

  #moment(
    lane: LaneName,
    at: number,
    { seq, label }: { readonly seq: number; readonly label: string },
  ): void {
    this.#spans.push({ lane, from: at, to: at, seq, label });
  }
}

/** Where a time is within the chart, from 0 to `width`. */
export function placeIn({ from, to }: Chart, at: number, width: number): number {
  return to === from ? 0 : Math.round(((at - from) / (to - from)) * width * 10) / 10;
}
