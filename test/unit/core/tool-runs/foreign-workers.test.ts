/** Ends of a call by workers in other languages: history contains them, so none of them may fail the task. */

import { describe, expect, it } from 'vitest';
import { answerRefusedEvents } from '../../../../src/core/events/asks.js';
import { isRelaxed, relaxedSchema } from '../../../../src/json-schema/relaxed.js';
import type { JsonSchema } from '../../../../src/protocol/values/json.js';
import type { RunToolResult } from '../../../../src/protocol/workflow/activities.js';
import { toolFinished } from '../../../support/builders/call-ends.js';
import { answer, modelCalls, plannedCall } from '../../../support/builders/core-builders.js';
import { promise } from '../../../support/promise.js';
import { asked, NUMBER } from '../../../support/schedules/core-asks.js';
import { aMachineWith } from '../../../support/schedules/core-driver.js';
import { expectInvariants } from '../../../support/schedules/core-invariants.js';

const ENDS: readonly (readonly [string, unknown])[] = [
  ['nothing', null],
  ['a text', 'ok'],
  ['a list', []],
  ['a bare result', { result: 1 }],
  ['an envelope that is a text', { envelope: 'ok' }],
  ['an envelope without a result', { envelope: { ok: true } }],
  ['an envelope without an error', { envelope: { ok: false } }],
  ['an envelope that is neither', { envelope: { ok: 'yes', error: { code: 'x', message: 'y' } } }],
  ['an error without a message', { envelope: { ok: false, error: { code: 'x' } } }],
  ['a question that is none', { ask: null }],
  ['a refusal that is none', { refused: 7 }],
];

describe('a tool whose worker ends its call', promise('G300'), () => {
  it.each(ENDS)('with %s gets an error result, and the turn continues', (_what, end) => {
    const m = aMachineWith(modelCalls([plannedCall('c')]));
    toolFinished(m.machine, 'c', end as RunToolResult);
    expect(m.last('tool_result').result).toMatchObject({
      status: 'errored',
      envelope: { ok: false, error: { code: 'tool_error' } },
    });
    expect(m.effectTypes()).toEqual(['call_model']);
    expectInvariants(m);
  });
});

it('a refused answer whose new form is nested beyond any stack opens the question again with the old form', () => {
  const m = asked(NUMBER);
  m.resolve('c', answer(1), { requestId: 'r' });
  let form: JsonSchema = { type: 'string' };
  for (let depth = 0; depth < 20_000; depth += 1) form = { not: form };
  const refused = [{ path: '', message: 'no' }];
  const events = answerRefusedEvents(m.state.calls['c']!, { refused, form, executionMs: 1 });
  expect(events.map(({ type }) => type)).toEqual(['resolution_reverted']);
});

describe('a deep form', () => {
  it.each(['contains', 'not', 'if'])('of nested %s is relaxed fast', (keyword) => {
    let form: JsonSchema = { type: 'string', pattern: '^a+$' };
    for (let depth = 0; depth < 60; depth += 1) form = { [keyword]: form };
    expect(isRelaxed(form)).toBe(true);
    let choice: JsonSchema = { type: 'string', pattern: '^a+$' };
    for (let depth = 0; depth < 60; depth += 1) choice = { oneOf: [choice, { type: 'null' }] };
    expect(relaxedSchema(choice)).toHaveProperty('anyOf');
  });
});
