/** The demo's model server, with an answer for each message of a test, and a count of its requests. */
import {
  type ModelServer,
  type SeenRequest,
  type ServerAnswer,
  startModelServer,
} from '../../../examples/demo/model-server.js';
import { DEMO_SCRIPT, type ScriptRequest } from '../../../examples/demo/script.js';

/** @param ask How often the model was called with this message before, plus 1. */
export type Scenario = (request: ScriptRequest, ask: number) => ServerAnswer;

export interface ScenarioModel {
  readonly url: string;
  /** All requests, oldest first. */
  readonly requests: readonly SeenRequest[];
  /** Sets the answer for conversations whose newest message is this one; any other gets the script. */
  answer(message: string, scenario: Scenario): void;
  /** The number of requests with this newest message. */
  asked(message: string): number;
  /** Drops the recorded requests that contain a text for which `isOver` is true. */
  forget(isOver: (text: string) => boolean): void;
  close(): Promise<void>;
}

/** @param script Answers all other messages. */
export async function startScenarioModel(script: Scenario = DEMO_SCRIPT): Promise<ScenarioModel> {
  const scenarios = new Map<string, Scenario>();
  const asked = new Map<string, number>();
  const server: ModelServer = await startModelServer({
    script: (request) => {
      const message = request.userTexts.at(-1) ?? '';
      const ask = (asked.get(message) ?? 0) + 1;
      asked.set(message, ask);
      return (scenarios.get(message) ?? script)(request, ask);
    },
  });
  return {
    url: server.url,
    requests: server.requests,
    answer: (message, scenario) => {
      scenarios.set(message, scenario);
    },
    asked: (message) => asked.get(message) ?? 0,
    forget: (isOver) => {
      server.forget((request) => isOver(JSON.stringify(request.body)));
    },
    close: () => server.close(),
  };
}
