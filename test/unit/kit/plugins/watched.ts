/** Agents with plugins, whose requests to the model a test reads. */
import { defineAgent, type Plugin } from '../../../../src/index.js';
import type { ScriptedAnswer } from '../../../../src/model/scripted/types.js';
import type { ModelRequest } from '../../../../src/protocol/model/model.js';
import { responds, script } from '../../../../src/testing/index.js';

/** Answers by the script, and keeps the requests. */
export function watched(...answers: readonly ScriptedAnswer[]) {
  const requests: ModelRequest[] = [];
  const model = script(
    ...answers.map((answer) =>
      responds((request) => {
        requests.push(request);
        return answer;
      }),
    ),
  );
  return { model, requests };
}

/** The names of the tools of each request. */
export function offeredIn(requests: readonly ModelRequest[]): readonly (readonly string[])[] {
  return requests.map(({ tools }) => tools.map(({ name }) => name));
}

export function agentWith(
  model: ReturnType<typeof script>,
  plugins: readonly Plugin[],
  settings: { readonly toolExecution?: 'sequential' } = {},
) {
  return defineAgent({ name: 'a', model, instructions: 'Help.', plugins, settings });
}
