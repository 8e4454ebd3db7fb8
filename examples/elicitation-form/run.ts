/** A tool asks in the middle of its work; a form is made from the question, filled in, and sent over HTTP. */
import { deepEqual, equal } from 'node:assert/strict';
import { runExample } from '../support/run-example.js';
import { secretary } from './agents.js';
import { fieldsOf } from './form.js';

interface Question {
  readonly toolCallId: string;
  readonly kind: string;
  readonly reason: string;
  readonly answerSchema: Parameters<typeof fieldsOf>[0];
}

await runExample(
  { agents: [secretary], services: {} },
  async ({ client, api, headers, idOf, note }) => {
    const conversation = client.conversation(idOf('ann'), { agent: secretary });
    const turn = await conversation.send('An appointment with Dr. Ek, please.');
    const waiting = await turn.result({ timeout: '1 minute' });
    equal(waiting.status, 'waiting');

    // From here on a page needs nothing but the API.
    const url = `${api}/v1/conversations/${conversation.id}`;
    const asked = (await (await fetch(`${url}/pending`, { headers })).json()) as {
      readonly pending: readonly Question[];
    };
    const [question] = asked.pending;
    if (question === undefined) throw new Error('no question');
    note(`${question.kind}: ${question.reason}`);
    for (const { label, input, required } of fieldsOf(question.answerSchema))
      note(`  [${input}] ${label}${required ? ' *' : ''}`);
    deepEqual(
      fieldsOf(question.answerSchema).map(({ name, input, required }) => [name, input, required]),
      [
        ['day', 'date', true],
        ['hour', 'number', true],
        ['note', 'text', false],
      ],
    );

    const submit = async (value: object) => {
      const response = await fetch(
        `${url}/tool-calls/${encodeURIComponent(question.toolCallId)}/resolution`,
        {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify({ resolution: { type: 'answer', value } }),
        },
      );
      return { status: response.status, body: await response.text() };
    };
    const refused = await submit({ day: '2026-02-03', hour: 23 });
    note(`a wrong form: ${refused.status} ${refused.body}`);
    equal(refused.status, 422);
    const taken = await submit({ day: '2026-02-03', hour: 9 });
    note(`a form that is right: ${taken.status}`);
    equal(taken.status, 200);

    const ended = await turn.result({ timeout: '1 minute', returnWhenWaiting: false });
    equal(ended.status, 'completed');
    note(`the agent says: ${ended.text}`);
    equal(ended.text, 'You meet Dr. Ek at 2026-02-03 9:00.');
  },
);
