/**
 * Chooses the model of the demo: OpenAI with a key, any compatible server with a URL, a tiny model on this machine, or
 * else a script.
 */
import { startLocalModel } from './local-model.js';
import { startModelServer } from './model-server.js';
import { DEMO_SCRIPT } from './script.js';
import { TINY_MODEL } from './tiny-model.js';

/** Takes the place of the key for servers that need none. */
const SCRIPTED_KEY = 'scripted';
const NO_KEY = 'none';

export interface ChosenModel {
  readonly label: string;
  /** Environment variables for the worker process. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export interface ModelWishes {
  /** Overrides the choice by the environment. */
  readonly local: boolean;
  /** Receives progress messages, because the first start of the local model takes a while. */
  readonly onNote: (text: string) => void;
}

/** The part of the environment that may be printed: a key from the caller's environment is left out. */
export function shownEnv({ env }: ChosenModel): Readonly<Record<string, string>> {
  const { OPENAI_API_KEY: key, ...shown } = env;
  return key === SCRIPTED_KEY || key === NO_KEY ? { ...shown, OPENAI_API_KEY: key } : shown;
}

export async function chooseModel({ local, onNote }: ModelWishes): Promise<ChosenModel> {
  if (local) return await localModel(onNote);
  const close = (): Promise<void> => Promise.resolve();
  const {
    OPENAI_API_KEY: key,
    OPENAI_BASE_URL: baseUrl,
    OPENAI_MODEL: name = 'gpt-5.1',
  } = process.env;
  if (baseUrl !== undefined && baseUrl !== '')
    return { label: `${name} at ${baseUrl}`, env: { OPENAI_API_KEY: key ?? NO_KEY }, close };
  if (key !== undefined && key !== '') return { label: `${name} at OpenAI`, env: {}, close };
  const server = await startModelServer({ script: DEMO_SCRIPT, chunkDelayMs: 15 });
  return {
    label: `SCRIPTED, no AI: a local server speaks the OpenAI protocol from examples/demo/script.ts (${server.url})`,
    env: { OPENAI_BASE_URL: server.url, OPENAI_API_KEY: SCRIPTED_KEY },
    close: () => server.close(),
  };
}

async function localModel(onNote: (text: string) => void): Promise<ChosenModel> {
  const server = await startLocalModel(onNote);
  const { url, model } = server;
  return {
    label: `${model}, REAL but TINY: llama.cpp on this machine; its words are nonsense, its calls fit their schemas (${url})`,
    env: {
      OPENAI_BASE_URL: url,
      OPENAI_API_KEY: NO_KEY,
      OPENAI_MODEL: model,
      [TINY_MODEL]: '1',
    },
    close: () => server.close(),
  };
}
