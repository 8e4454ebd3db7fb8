/** The cursor of the studio, over the log of a conversation without a server. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { page } from 'vitest/browser';
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';
import type { Session } from '../../../web/session/session.js';
import { useLog } from '../../../web/studio/hooks/use-log.js';
import { turnsIn } from '../../../web/studio/model/cursor.js';
import { Scrubber } from '../../../web/studio/panes/scrubber.js';
import { FakeStream, json, scriptedFetch } from '../../support/pages/scripted-fetch.js';
import { asks, stamped, started, turn } from '../../support/samples/log-events.js';
import { focus, press } from '../support/keys.js';
import { accessibilityFaults } from '../support/looks.js';
import { sessionOver } from '../support/session.js';
import { showPart } from '../support/show.js';

/** Two turns of five events behind the start. */
const LOG = stamped([started(), ...turn('t1'), ...turn('t2')]);

function Cursor({ session }: { readonly session: Session }) {
  const log = useLog(session, 'c1');
  return <Scrubber log={log} turns={turnsIn(log.view.replay.events)} />;
}

async function openLog(events: readonly CanonicalEvent[] = LOG): Promise<FakeStream> {
  const streams: FakeStream[] = [];
  const { fetch } = scriptedFetch(({ headers }) => {
    if (headers.get('accept') !== 'text/event-stream')
      return json({ generation: 1, events, cursor: `1-${events.length}`, more: false });
    const stream = new FakeStream();
    streams.push(stream);
    return stream.response;
  });
  showPart(<Cursor session={sessionOver(fetch)} />);
  await expect.poll(() => streams.length).toBeGreaterThan(0);
  return streams.at(-1) as FakeStream;
}

const slider = page.getByRole('slider', { name: 'Event' });
const isAt = async (words: string) => {
  await expect.element(slider).toHaveAttribute('aria-valuetext', words);
  await expect.element(page.getByRole('status')).toHaveTextContent(words);
};
const button = (name: string) => page.getByRole('button', { name });

beforeEach(() => history.replaceState(null, '', location.pathname));

describe('the cursor on a log', () => {
  it('moves by the keys of a slider, and by buttons for events and turns', async () => {
    await openLog();
    await isAt('11 turn ended, turn 2 of 2');
    expect(await accessibilityFaults()).toEqual([]);
    focus(slider);
    await press('Home');
    await isAt('1 conversation started, turn 1 of 2');
    await press('ArrowRight', 'ArrowRight');
    await isAt('3 turn started, turn 1 of 2');
    expect(location.search).toBe('?at=3');
    await press('ArrowLeft');
    await isAt('2 user message, turn 1 of 2');
    await button('Next turn').click();
    await isAt('3 turn started, turn 1 of 2');
    await button('Next turn').click();
    await isAt('8 turn started, turn 2 of 2');
    await button('Next event').click();
    await isAt('9 model call, turn 2 of 2');
    await button('Previous turn').click();
    await isAt('8 turn started, turn 2 of 2');
    await button('Previous event').click();
    await isAt('7 user message, turn 1 of 2');
    focus(slider);
    await press('End');
    await isAt('11 turn ended, turn 2 of 2');
    expect(location.search).toBe('');
  });

  it('goes along with the log at its end, and stays elsewhere', async () => {
    const stream = await openLog();
    await isAt('11 turn ended, turn 2 of 2');
    const [message, begins] = stamped(asks('t3'), { from: 12 });
    stream.send(message as CanonicalEvent);
    await isAt('12 user message, turn 2 of 2');
    await button('Previous turn').click();
    await isAt('8 turn started, turn 2 of 2');
    stream.send(begins as CanonicalEvent);
    await isAt('8 turn started, turn 2 of 3');
    await expect.element(button('Latest')).toHaveAttribute('aria-pressed', 'false');
    await button('Latest').click();
    await isAt('13 turn started, turn 3 of 3');
    await expect.element(button('Latest')).toHaveAttribute('aria-pressed', 'true');
  });

  it('plays by the space bar, from the start where it is at the end, until the end', async () => {
    await openLog();
    await isAt('11 turn ended, turn 2 of 2');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    focus(slider);
    await press('Space');
    await isAt('1 conversation started, turn 1 of 2');
    await expect.element(button('Pause')).toHaveAttribute('aria-pressed', 'true');
    vi.advanceTimersByTime(400);
    await isAt('2 user message, turn 1 of 2');
    await press('Space');
    await expect.element(button('Play')).toBeVisible();
    vi.advanceTimersByTime(4_000);
    await isAt('2 user message, turn 1 of 2');
    await press('Space');
    for (const event of LOG.slice(2)) {
      vi.advanceTimersByTime(400);
      await isAt(
        `${event.seq} ${event.type.replaceAll('_', ' ')}, turn ${event.seq < 8 ? 1 : 2} of 2`,
      );
    }
    vi.advanceTimersByTime(400);
    await expect.element(button('Play')).toBeVisible();
    await isAt('11 turn ended, turn 2 of 2');
  });
});
