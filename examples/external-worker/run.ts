/** Another backend finds the calls that wait for it, claims one, reports progress, and sends the result. */
import { deepEqual, equal } from 'node:assert/strict';
import type { WatchFrame } from 'colloquy/client';
import { eventually, runExample } from '../support/run-example.js';
import { director } from './agents.js';
import { takeOne } from './render-worker.js';

await runExample(
  { agents: [director], services: {} },
  async ({ client, api, headers, idOf, note }) => {
    const conversation = client.conversation(idOf('film-1'), { agent: director });
    const turn = await conversation.send('A video of the sea, please.');
    const waiting = await turn.result({ timeout: '1 minute' });
    equal(waiting.status, 'waiting');

    const shown: number[] = [];
    const leave = new AbortController();
    const watching = watchProgress(conversation.subscribe({ signal: leave.signal }), (percent) => {
      note(`the page shows ${percent} %`);
      shown.push(percent);
    });

    let rival: string | undefined = 'not asked';
    const render = async (scene: string, report: (percent: number) => Promise<void>) => {
      note(`worker 1 renders "${scene}"`);
      await report(50);
      // While one worker has the call, another finds nothing to take.
      rival = await takeOne({
        api,
        headers,
        name: 'worker 2',
        render: () => Promise.reject(new Error('no')),
      });
      return { url: `https://videos.example/${scene}`, seconds: 30 };
    };
    const verdict = await eventually('a call is taken', () =>
      takeOne({ api, headers, name: 'worker 1', render }),
    );
    deepEqual([verdict, rival], ['accepted', undefined]);

    const ended = await turn.result({ timeout: '1 minute', returnWhenWaiting: false });
    equal(ended.status, 'completed');
    note(`the agent says: ${ended.text}`);
    leave.abort();
    await watching;
    deepEqual(shown, [50]);
  },
);

async function watchProgress(
  frames: AsyncIterable<WatchFrame>,
  onPercent: (percent: number) => void,
): Promise<void> {
  for await (const frame of frames)
    if (frame.type === 'live' && frame.event.type === 'tool_progress') {
      const { percent } = frame.event.payload as { readonly percent: number };
      onPercent(percent);
    }
}
