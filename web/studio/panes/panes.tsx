/** The state at the cursor: messages, waiting calls, settings, budgets, rules, plugins. */
import type { Json } from 'colloquy/browser';
import type { LogPlace, Message } from 'colloquy/browser/studio';
import { Values } from 'colloquy/react';
import type { ReactNode } from 'react';
import { trustOf, usageWords } from '../model/words.js';

interface PlaceProps {
  readonly place: LogPlace;
}

export function MessagesPane({ place }: PlaceProps): ReactNode {
  const { messages, forgotten, isWhole } = place;
  return (
    <details className="pane" open>
      <summary>Messages ({messages.length})</summary>
      {isWhole ? undefined : (
        <p className="error">
          Events were lost, or are of a later version: the state behind them is not known whole.
        </p>
      )}
      {forgotten === 0 ? undefined : (
        <p className="hint">
          {forgotten} older messages are in the log, and go to no model call any more.
        </p>
      )}
      {messages.map((message) => (
        <MessageCard key={message.id} message={message} />
      ))}
    </details>
  );
}

export function MessageCard({ message }: { readonly message: Message }): ReactNode {
  const { role, parts } = message;
  const name = role === 'user' && message.summary !== undefined ? 'summary' : role;
  return (
    <div className={`said ${trustOf(message)}`}>
      <span className="mark">
        {name} {role === 'user' ? '' : `step ${message.step}`}
      </span>{' '}
      {parts.map((part, index) => (
        <Part key={`${message.id} ${index}`} part={part} />
      ))}
    </div>
  );
}

function Part({ part }: { readonly part: Message['parts'][number] }): ReactNode {
  switch (part.type) {
    case 'text':
      return <Values value={part.text} />;
    case 'reasoning':
      return (
        <details>
          <summary>Reasoning</summary>
          <Values value={part.text} />
        </details>
      );
    case 'tool_call':
      return (
        <p>
          calls <b>{part.name}</b> <code>{part.argumentsJson}</code>
        </p>
      );
    case 'tool_result':
      return (
        <div>
          <b>{part.name}</b> <Values value={part.envelope as unknown as Json} />
        </div>
      );
    default:
      return <Values value={part as unknown as Json} />;
  }
}

export function PendingPane({ place }: PlaceProps): ReactNode {
  const { pending = [], inFlightTools = [] } = place.snapshot ?? {};
  return (
    <details className="pane" open>
      <summary>
        Waiting ({pending.length}), running ({inFlightTools.length})
      </summary>
      {pending.map(({ toolCallId, name, kind, prompt, deadline, reason }) => (
        <div key={toolCallId} className="said untrusted">
          <b>{name}</b>{' '}
          <span className="mark">
            {kind}, until {deadline}
          </span>
          {reason === undefined ? undefined : <p className="text">{reason}</p>}
          <Values value={prompt} />
        </div>
      ))}
      {inFlightTools.map(({ toolCallId, name, executor }) => (
        <p key={toolCallId}>
          <b>{name}</b> runs ({executor})
        </p>
      ))}
    </details>
  );
}

export function StatePane({ place }: PlaceProps): ReactNode {
  const { snapshot, settings, turn, unread, plugins } = place;
  const { rules = [], queued = [], context } = snapshot ?? {};
  return (
    <details className="pane">
      <summary>State, rules ({rules.length}), budgets</summary>
      <dl className="values">
        <Row name="Status" value={snapshot?.status ?? 'not begun'} />
        {turn === undefined ? undefined : (
          <Row
            name="Turn"
            value={`step ${turn.step}${settings === undefined ? '' : ` of at most ${settings.maxSteps}`}, ${usageWords(turn.usage)}${turn.isStopping ? ', is being stopped' : ''}`}
          />
        )}
        <Row name="Queued messages, unread events" value={`${queued.length}, ${unread}`} />
        <Row name="Budgets of a turn" value={(settings?.budgets ?? 'none') as Json} />
        {turn?.calls === undefined ? undefined : (
          <Row name="Calls of the turn" value={turn.calls} />
        )}
        {context === undefined ? undefined : <Row name="Last model call" value={context} />}
        {rules.map((rule) => (
          <Row key={rule.ruleId} name={`Rule ${rule.ruleId}`} value={rule as unknown as Json} />
        ))}
        {Object.entries(plugins).map(([name, state]) => (
          <Row key={name} name={`Plugin ${name}`} value={state as unknown as Json} />
        ))}
        <Row name="Settings" value={(settings ?? null) as unknown as Json} />
      </dl>
    </details>
  );
}

function Row({ name, value }: { readonly name: string; readonly value: Json }): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <Values value={value} />
      </dd>
    </div>
  );
}
