/** The code of a page: it follows a conversation, and runs tools of the agent. */
import {
  type BrowserConversation,
  type ClientTools,
  type ConversationView,
  createBrowserClient,
} from 'colloquy/browser';

export interface PageOptions {
  /** Address of the API. */
  readonly api: string;
  /** Headers that identify the page. With the cookie of a session there are none. */
  readonly headers: Readonly<Record<string, string>>;
  readonly conversationId: string;
  /** The functions of this page, by name of their tools. */
  readonly tools: ClientTools;
}

/** Opens the page; `leave` closes it. */
export async function openPage(options: PageOptions): Promise<BrowserConversation> {
  const { api, headers, conversationId, tools } = options;
  const client = createBrowserClient({ baseUrl: api, headers, tools });
  const conversation = client.conversation(conversationId, { agent: 'shopper' });
  await conversation.open();
  return conversation;
}

/** The lines that the page shows. */
export function linesOf({ messages }: ConversationView): readonly string[] {
  return messages.flatMap((message) => {
    if (message.role === 'event') return [`(${message.kind})`];
    const calls = message.role === 'assistant' ? message.calls : [];
    const text = message.text === '' ? [] : [`${message.role}: ${message.text}`];
    return [...text, ...calls.map(({ name, state }) => `${name}: ${state}`)];
  });
}
