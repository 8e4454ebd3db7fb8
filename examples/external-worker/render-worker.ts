/** A worker of another team: it knows the API's address and the name of a tool. */
import { createToolWorker, type ToolContractsOf, type ToolWorker } from 'colloquy/tool-worker';
import type { director } from './agents.js';

export interface RenderWorkerOptions {
  readonly api: string;
  /** With the worker's credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** Does the work; `report` shows progress. */
  readonly render: (scene: string, report: (percent: number) => Promise<unknown>) => Promise<Video>;
  readonly onError: (message: string) => void;
}

interface Video {
  readonly url: string;
  readonly seconds: number;
}

// #region worker
export function startRenderWorker({
  api,
  headers,
  render,
  onError,
}: RenderWorkerOptions): ToolWorker {
  // The types of input and output are those of the agent's tools; without the type argument they are JSON.
  return createToolWorker<ToolContractsOf<typeof director.tools>>({
    url: api,
    headers,
    tools: {
      'video.render': async ({ scene }, ctx) =>
        await render(scene, (percent) => ctx.progress({ percent })),
    },
    concurrency: 2,
    leaseMs: 10_000,
    onError: ({ message }) => onError(message),
  });
}
// #endregion worker
