/** A tool asks in the middle of its work; a form is made from the question, filled in, and sent over HTTP. */
import { deepEqual, equal } from 'node:assert/strict';
import { checkForm, formOf, type JsonSchema } from 'colloquy/browser';
import { runExample } from '../support/run-example.js';
import { secretary } from './agents.js';

interface Question {
  readonly toolCallId: string;
  readonly kind: string;
  readonly reason: string;
  readonly answerSchema: JsonSchema;
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
    const form = formOf(question.answerSchema);
    if (form.type === 'json') throw new Error('no flat form');
    for (const { title, help = title, type, required } of form.fields)
      note(`  [${type}] ${help}${required ? ' *' : ''}`);
    deepEqual(
      form.fields.map(({ name, type, required }) => [name, type, required]),
      [
        ['day', 'date', true],
        ['hour', 'number', true],
        ['note', 'text', false],
      ],
    );
    // The page finds what it can see by itself.
    deepEqual(checkForm(form, { day: 'tomorrow', hour: '9' }), {
      ok: false,
      errors: { day: 'must be a date such as 2030-01-31' },
    });

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
