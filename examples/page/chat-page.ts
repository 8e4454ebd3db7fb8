/** A page that shows a conversation, with buttons for approvals and forms for questions. */
import {
  type BrowserConversation,
  checkForm,
  createBrowserClient,
  errorsByField,
  type Field,
  type MessageView,
  type PendingView,
} from 'colloquy/browser';

/** Shows the conversation of an order to the user who is signed in. */
export function openChat(order: string, page: HTMLElement): BrowserConversation {
  // #region open
  const client = createBrowserClient({
    baseUrl: 'https://api.example.com',
    credentials: 'include',
  });
  const conversation = client.conversation(`order-${order}`, { agent: 'support' });
  showChat(conversation, page);
  void conversation.open();
  // #endregion
  return conversation;
}

// #region page
export function showChat(conversation: BrowserConversation, page: HTMLElement): void {
  const [said, asked] = [element('div'), element('div')];
  const input = element('input');
  const send = button('Send', () => conversation.send(input.value));
  page.replaceChildren(said, asked, input, send);
  let shown: readonly PendingView[] | undefined;
  const show = (): void => {
    const { messages, pending } = conversation.getSnapshot();
    said.replaceChildren(...messages.flatMap(linesOf));
    // The same list as before keeps what the user has entered.
    if (pending !== shown)
      asked.replaceChildren(...pending.flatMap((call) => askFor(conversation, call)));
    shown = pending;
  };
  conversation.subscribe(show);
  show();
}

function linesOf(message: MessageView): readonly HTMLElement[] {
  if (message.role === 'event') return [element('p', `(${message.kind})`)];
  const calls = message.role === 'assistant' ? message.calls : [];
  const line = element('p', `${message.role}: ${message.text}`);
  return [line, ...calls.map(({ name, state }) => element('p', `${name}: ${state}`))];
}

function askFor(conversation: BrowserConversation, call: PendingView): readonly HTMLElement[] {
  const { toolCallId, kind, form, name, reason, prompt } = call;
  if (call.state !== 'waiting_for_you') return [];
  const title = element('legend', `${name}: ${reason ?? JSON.stringify(prompt)}`);
  const answer = (type: 'approve' | 'deny') => () => conversation.resolve(toolCallId, { type });
  if (kind === 'approval')
    return [
      element(
        'fieldset',
        title,
        button('Approve', answer('approve')),
        button('Deny', answer('deny')),
      ),
    ];
  if (kind !== 'elicitation' || form?.type !== 'fields') return [];
  const inputs = form.fields.map((field) => inputOf(field));
  const errors = element('p');
  const send = button('Answer', async () => {
    const entered: Record<string, unknown> = {};
    for (const { name: field, type, value, checked } of inputs)
      entered[field] = type === 'checkbox' ? checked : value;
    const answered = checkForm(form, entered);
    if (!answered.ok) errors.textContent = JSON.stringify(answered.errors);
    else {
      const { value } = answered;
      const verdict = await conversation.resolve(toolCallId, { type: 'answer', value });
      if (verdict.verdict === 'invalid')
        errors.textContent = JSON.stringify(errorsByField(verdict.problems));
    }
  });
  return [element('fieldset', title, ...inputs, errors, send)];
}

function inputOf({ name, title, type, required }: Field): HTMLInputElement {
  return Object.assign(element('input'), { name, placeholder: title, type, required });
}
// #endregion

function button(label: string, act: () => Promise<unknown>): HTMLElement {
  const made = element('button', label);
  made.addEventListener('click', () => {
    act().catch((error: unknown) => made.after(String(error)));
  });
  return made;
}

function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  ...children: readonly (HTMLElement | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  made.append(...children);
  return made;
}
