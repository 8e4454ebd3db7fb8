/** The messages of a space as elements, one for each message: a change replaces what the element contains. */
import type { RendererRegistry, SpaceMessage } from 'colloquy/browser/spaces';
import { element } from './dom.js';

const STATES = {
  running: 'running',
  requires_action: 'waits for an answer',
  complete: 'done',
  error: 'failed',
} as const;

export class MessageList {
  readonly #list: HTMLElement;
  readonly #renderers: RendererRegistry<readonly Node[]>;
  readonly #shown = new Map<string, { readonly change: number; readonly article: HTMLElement }>();

  constructor(list: HTMLElement, renderers: RendererRegistry<readonly Node[]>) {
    this.#list = list;
    this.#renderers = renderers;
  }

  /** Takes all messages, in their order. Those that have not changed keep their elements. */
  show(messages: readonly SpaceMessage[]): void {
    const ids = new Set(messages.map(({ id }) => id));
    for (const [id, { article }] of this.#shown)
      if (!ids.has(id)) {
        article.remove();
        this.#shown.delete(id);
      }
    for (const [index, message] of messages.entries()) {
      const { id, change } = message;
      const before = this.#shown.get(id);
      const article = before?.article ?? element('article', { tabIndex: -1 });
      if (before?.change !== change) this.#fill(article, message);
      this.#shown.set(id, { change, article });
      const place = this.#list.children[index];
      if (place !== article) this.#list.insertBefore(article, place ?? null);
    }
  }

  #fill(article: HTMLElement, message: SpaceMessage): void {
    // A button that is pressed goes away with its wait: the keyboard goes on from the message.
    const hadFocus = article.contains(document.activeElement);
    article.replaceChildren(...authorOf(message), ...this.#contentOf(message));
    if (hadFocus) article.focus();
  }

  #contentOf(message: SpaceMessage): readonly Node[] {
    const rendered = this.#renderers.render(message);
    return rendered ?? [element('p', { className: 'text', dir: 'auto' }, message.text)];
  }
}

function authorOf({ author, kind, status, metadata }: SpaceMessage): readonly Node[] {
  const name = element('bdi', {}, author.name ?? author.id);
  const what = author.kind === 'agent' ? ' (agent)' : '';
  const by = element('p', { className: 'author' }, name, what);
  if (kind === 'text') return [by];
  const { toolName } = metadata ?? {};
  const tool = element('bdi', {}, typeof toolName === 'string' ? toolName : 'a call');
  return [by, element('p', { className: 'state' }, tool, `: ${STATES[status]}`)];
}
