/** How the page shows calls: by the name of their tool. Values are shown as text, or as drawings of checked numbers. */
import {
  type RenderedCall,
  type RendererRegistry,
  type ToolRenderer,
  toolRenderers,
} from 'colloquy/browser/spaces';
import { chartOf, drawChart } from './chart.js';
import { element } from './dom.js';

export type Decision = 'approve' | 'deny';

/** Answers the call of a message. Rejects with the reason when the answer was not taken. */
export type Decide = (messageId: string, decision: Decision) => Promise<void>;

// #region renderers
/** The renderers of the page; a call of any other tool shows its input, and its output or error. */
export function pageRenderers(decide: Decide): RendererRegistry<readonly Node[]> {
  const refund: ToolRenderer<readonly Node[]> = (call) => {
    const { order, cents } = fieldsOf(call.input);
    if (typeof order !== 'string' || typeof cents !== 'number') return anyCall(call);
    const text = `Refund of ${(cents / 100).toFixed(2)} EUR for order ${order}`;
    const buttons = call.waitsFor === 'approval' ? [decisionOf(call, decide)] : [];
    return [paragraph(text), ...buttons, ...errorOf(call)];
  };
  return toolRenderers({
    byName: { refund, 'chart.show': chart, 'cart.read': cart },
    fallback: anyCall,
  });
}
// #endregion

function chart(call: RenderedCall): readonly Node[] {
  const drawn = chartOf(call.input);
  return drawn === undefined ? anyCall(call) : [paragraph(drawn.title), drawChart(drawn)];
}

function cart(call: RenderedCall): readonly Node[] {
  const { items } = fieldsOf(call.output);
  const text = Array.isArray(items) ? `In the cart: ${items.length}` : 'A page reads its cart';
  return [paragraph(text), ...errorOf(call)];
}

function anyCall(call: RenderedCall): readonly Node[] {
  const { input, output } = call;
  const shown = output === undefined ? [] : [details('Output', output)];
  return [details('Input', input), ...shown, ...errorOf(call)];
}

function decisionOf({ messageId }: RenderedCall, decide: Decide): HTMLElement {
  const problem = element('p', { role: 'alert' });
  let isSent = false;
  const press = (decision: Decision) => (): void => {
    if (isSent) return;
    isSent = true;
    problem.textContent = '';
    decide(messageId, decision).catch((error: unknown) => {
      isSent = false;
      problem.textContent = error instanceof Error ? error.message : String(error);
    });
  };
  const button = (text: string, decision: Decision): HTMLElement => {
    const className = decision === 'deny' ? 'second' : '';
    return element('button', { type: 'button', className, onclick: press(decision) }, text);
  };
  const buttons = [button('Approve the refund', 'approve'), button('Deny the refund', 'deny')];
  return element('div', {}, ...buttons, problem);
}

function errorOf({ error }: RenderedCall): readonly Node[] {
  if (error === undefined) return [];
  const { message = error } = fieldsOf(error);
  return [paragraph(textOf(message))];
}

function details(name: string, value: unknown): HTMLElement {
  const shown = element('pre', { dir: 'auto' }, textOf(value));
  return element('details', {}, element('summary', {}, name), shown);
}

function paragraph(text: string): HTMLElement {
  return element('p', { className: 'text', dir: 'auto' }, text);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, undefined, 2);
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
