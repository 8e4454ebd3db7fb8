/** Renderers of calls by the names of their tools. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { type RenderedCall, toolRenderers } from '../../../../src/browser/spaces/index.js';
import { promise } from '../../../support/promise.js';
import { callMessage, textMessage } from '../../../support/spaces/shown-messages.js';

const confirm = (metadata: object = {}) =>
  callMessage(1, { toolName: 'confirmAction', toolCallId: 'call_1', input: {}, ...metadata });

describe('the renderer of a call', () => {
  it('is chosen by the name of its tool, and by nothing else', promise('H13', 'H49'), () => {
    const renderers = toolRenderers<string>({
      byName: { confirmAction: () => 'dialog', displayChart: () => 'chart' },
      fallback: ({ toolName }) => `any: ${toolName}`,
    });
    const named = (toolName: string) => renderers.render(confirm({ toolName }));
    expect(named('confirmAction')).toBe('dialog');
    expect(named('displayChart')).toBe('chart');
    expect(named('fetchWeather')).toBe('any: fetchWeather');
    // Names that only look the same, and names of every object.
    for (const other of ['ConfirmAction', 'confirmAction ', 'constructor', '__proto__', ''])
      expect(named(other)).toBe(`any: ${other}`);
    for (const executor of ['human', 'client', 'external', 'server', 'internal'])
      for (const status of ['running', 'requires_action', 'complete', 'error'] as const)
        expect(
          renderers.render({
            ...confirm({ executor, display: { customUI: 'displayChart' } }),
            status,
          }),
        ).toBe('dialog');
  });

  it('gets input, output and error as they are, structured', promise('H13', 'H48', 'H49'), () => {
    const renderers = toolRenderers<RenderedCall>({ fallback: (call) => call });
    const input = { bars: [1, { deep: [null, 'x'] }] };
    const message = confirm({ executor: 'client', waitsFor: 'client_execution', input });
    expect(renderers.render({ ...message, status: 'requires_action' })).toEqual({
      ...{ messageId: 'msg_1', toolName: 'confirmAction', toolCallId: 'call_1' },
      ...{ executor: 'client', waitsFor: 'client_execution', status: 'requires_action', input },
      message: { ...message, status: 'requires_action' },
    });
    const output = { success: true, args: input };
    expect(renderers.render({ ...confirm({ output }), status: 'complete' })).toMatchObject({
      output,
    });
    const error = { code: 'tool_error', message: 'no' };
    expect(renderers.render({ ...confirm({ error }), status: 'error' })).toMatchObject({ error });
    expect(renderers.render(confirm({ output: null }))).toMatchObject({ output: null });
  });

  it('gets text as text: no part of it is made markup, or taken for it', promise('H49'), () => {
    const renderers = toolRenderers<RenderedCall>({ fallback: (call) => call });
    const evil = '<img src=x onerror="alert(1)">&amp;</script>\u0000';
    const shown = renderers.render(
      confirm({ toolName: evil, input: { [evil]: evil }, output: evil, error: { message: evil } }),
    );
    expect(shown).toMatchObject({
      ...{ toolName: evil, input: { [evil]: evil }, output: evil, error: { message: evil } },
    });
  });

  it('is there for messages of calls only', () => {
    const renderers = toolRenderers<string>({ fallback: ({ toolName }) => toolName });
    expect(renderers.render(textMessage(1))).toBeUndefined();
    const asText = textMessage(1, { metadata: { toolName: 'confirmAction' } });
    expect(renderers.render(asText)).toBeUndefined();
    expect(renderers.render(callMessage(1, {}))).toBeUndefined();
    expect(renderers.render(callMessage(1, { toolName: 7 }))).toBeUndefined();
    const ended = callMessage(1, { toolName: 'loop_protection', reason: 'hops' });
    expect(renderers.render(ended)).toBe('loop_protection');
  });

  it('may be added and taken away later, by parts of the page', promise('H13'), () => {
    const renderers = toolRenderers<string>({ fallback: () => 'any' });
    const remove = renderers.register('confirmAction', () => 'dialog');
    expect(renderers.render(confirm())).toBe('dialog');
    expect(() => renderers.register('confirmAction', () => 'other')).toThrow(
      'the tool "confirmAction" has a renderer already',
    );
    remove();
    expect(renderers.render(confirm())).toBe('any');
    const removeLater = renderers.register('confirmAction', () => 'second');
    remove();
    expect(renderers.render(confirm())).toBe('second');
    removeLater();
    expect(renderers.render(confirm())).toBe('any');
  });

  it('returns what the page shows, in the type of the page', () => {
    const renderers = toolRenderers<{ readonly tag: string }>({ fallback: () => ({ tag: 'p' }) });
    expectTypeOf(renderers.render(confirm())).toEqualTypeOf<{ readonly tag: string } | undefined>();
  });
});
