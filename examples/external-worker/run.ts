/** Two workers of another backend share the calls of a tool: each call runs in one of them, with progress. */
import { deepEqual, equal } from 'node:assert/strict';
import type { WatchFrame } from 'colloquy/client';
import { runExample } from '../support/run-example.js';
import { director } from './agents.js';
import { startRenderWorker } from './render-worker.js';

await runExample(
  { agents: [director], services: {} },
  async ({ client, api, headers, idOf, note }) => {
    const rendered: string[] = [];
    const errors: string[] = [];
    const start = (name: string) =>
      startRenderWorker({
        api,
        headers,
        render: async (scene, report) => {
          note(`${name} renders "${scene}"`);
          rendered.push(scene);
          await report(50);
          return { url: `https://videos.example/${scene}`, seconds: 30 };
        },
        onError: (message) => errors.push(message),
      });
    const workers = [start('worker 1'), start('worker 2')];

    const conversation = client.conversation(idOf('film-1'), { agent: director });
    const shown: number[] = [];
    const leave = new AbortController();
    const turn = await conversation.send('A video of the sea, please.');
    const watching = watchProgress(conversation.subscribe({ signal: leave.signal }), (percent) => {
      note(`the page shows ${percent} %`);
      shown.push(percent);
    });
    const others = await Promise.all(
      ['film-2', 'film-3'].map((name) =>
        client.conversation(idOf(name), { agent: director }).send('A video of the sea, please.'),
      ),
    );

    const ended = await turn.result({ timeout: '1 minute', returnWhenWaiting: false });
    equal(ended.status, 'completed');
    note(`the agent says: ${ended.text}`);
    for (const other of others) {
      const { status } = await other.result({ timeout: '1 minute', returnWhenWaiting: false });
      equal(status, 'completed');
    }
    leave.abort();
    await watching;
    // Workers that are stopped finish what they run.
    for (const worker of workers) await worker.stop();
    deepEqual([rendered, errors], [['sea', 'sea', 'sea'], []]);
    note(`${shown.length} reports of progress were shown`);
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
