/** The event at the cursor as the log has it. */
import type { LogPlace } from 'colloquy/browser/studio';
import type { ReactNode } from 'react';
import { CopiedJson } from './copy.js';

export function EventPane({ place }: { readonly place: LogPlace }): ReactNode {
  const { event } = place;
  if (event === undefined) return undefined;
  return (
    <details className="pane">
      <summary>
        Event {event.seq} as JSON <span className="hint">{event.at}</span>
      </summary>
      <CopiedJson value={event} label="event" />
    </details>
  );
}
