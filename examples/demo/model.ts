/** Which model the demo talks to: the real service with a key, any compatible server with a URL, else a script. */
import { startModelServer } from './model-server.js';
import { DEMO_SCRIPT } from './script.js';

export interface ChosenModel {
  readonly label: string;
  /** For the worker process. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export async function chooseModel(): Promise<ChosenModel> {
  const close = (): Promise<void> => Promise.resolve();
  const {
    OPENAI_API_KEY: key,
    OPENAI_BASE_URL: baseUrl,
    OPENAI_MODEL: name = 'gpt-5.1',
  } = process.env;
  if (baseUrl !== undefined && baseUrl !== '')
    return { label: `${name} at ${baseUrl}`, env: { OPENAI_API_KEY: key ?? 'none' }, close };
  if (key !== undefined && key !== '') return { label: `${name} at OpenAI`, env: {}, close };
  const server = await startModelServer({ script: DEMO_SCRIPT, chunkDelayMs: 15 });
  return {
    label: `SCRIPTED, no AI: a local server speaks the OpenAI protocol from examples/demo/script.ts (${server.url})`,
    env: { OPENAI_BASE_URL: server.url, OPENAI_API_KEY: 'scripted' },
    close: () => server.close(),
  };
}
