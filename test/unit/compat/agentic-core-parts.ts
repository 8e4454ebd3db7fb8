/** Services of agentic-core's snippets, and a conversation of an agent with some of its parts. */
import { createServices, defineAgent, provide, type Services } from '../../../src/index.js';
import type { ScriptedAnswer } from '../../../src/model/scripted/types.js';
import { script, testConversation } from '../../../src/testing/index.js';

export class NoteService {
  search(query: string, limit: number) {
    return Promise.resolve([{ id: 'n1', title: query, snippet: `first of ${limit}` }]);
  }
}
export class TriggerService {
  readonly rows: { readonly id: string; readonly title: string }[] = [];
  insert(row: { readonly id: string; readonly title: string }): Promise<void> {
    this.rows.push(row);
    return Promise.resolve();
  }
}
export class DomainService {
  readonly known = new Set(['example.org']);
  isAllowed(domain: string): Promise<boolean> {
    return Promise.resolve(this.known.has(domain));
  }
  addDomain(domain: string): Promise<boolean> {
    this.known.add(domain);
    return Promise.resolve(true);
  }
  fetch({ url, force }: { readonly url: string; readonly force: boolean }) {
    return Promise.resolve({ status: force ? 200 : 403, url });
  }
}

async function services(): Promise<Services> {
  return await createServices([
    provide(NoteService, () => new NoteService()),
    provide(DomainService, () => new DomainService()),
    provide(TriggerService, () => new TriggerService()),
  ]);
}

type Part = Partial<Pick<Parameters<typeof defineAgent<Services>>[0], 'tools' | 'plugins'>>;

export async function conversationWith(parts: Part, ...answers: readonly ScriptedAnswer[]) {
  const agent = defineAgent<Services>({
    ...{ name: 'assistant', model: script(...answers), instructions: 'Help.', ...parts },
    settings: { toolExecution: 'sequential' },
  });
  return testConversation(agent, { services: await services() });
}
