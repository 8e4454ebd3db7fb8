/** Calls that wait, the conversations that need an operator, and dead deliveries of webhooks. */
import type { OperationsAnswer } from 'colloquy/browser/operations';
import { agoWords } from 'colloquy/react';
import type { ReactNode } from 'react';
import { countWords, REASONS } from '../model/words.js';
import { Command, ConversationLink, Part, Table } from './table.js';

interface Props {
  readonly seen: OperationsAnswer;
  readonly now: number;
}

export function Troubles({ seen, now }: Props): ReactNode {
  return (
    <Part title="Conversations that need attention" part={seen.troubles}>
      {({ conversations, more, incomplete }) => (
        <>
          {incomplete === undefined ? undefined : (
            <p className="error">
              Marks of the last check; the server cannot be asked: {incomplete}
            </p>
          )}
          {conversations.length === 0 ? (
            <p className="empty">None.</p>
          ) : (
            <Table
              caption={more ? 'Some of the conversations' : 'All such conversations'}
              heads={['Conversation', 'Trouble', 'Since', 'Meaning', 'Next']}
              rows={conversations.map((each) => ({
                key: `${each.reason} ${each.conversationId}`,
                cells: [
                  <ConversationLink key="id" id={each.conversationId} />,
                  REASONS[each.reason],
                  agoWords(each.since, now),
                  each.text,
                  <Command key="next" text={each.nextCommand} />,
                ],
              }))}
            />
          )}
        </>
      )}
    </Part>
  );
}

export function Waits({ seen }: Pick<Props, 'seen'>): ReactNode {
  return (
    <Part title="Waits" part={seen.waits}>
      {({ conversations, calls, more }) => (
        <p>
          {countWords(calls, 'call', more ? '+' : '')} of{' '}
          {countWords(conversations, 'conversation', more ? '+' : '')}{' '}
          {calls === 1 && !more ? 'waits' : 'wait'} for input from outside.
        </p>
      )}
    </Part>
  );
}

export function Webhooks({ seen, now }: Props): ReactNode {
  return (
    <Part title="Dead webhooks" part={seen.webhooks}>
      {({ endpoints, deadLetters, more }) =>
        deadLetters.length === 0 ? (
          <p className="empty">None, of {countWords(endpoints, 'endpoint')}.</p>
        ) : (
          <Table
            caption={more ? 'Some of the dead deliveries' : 'All dead deliveries'}
            heads={['Event', 'Conversation', 'Happened', 'Attempts', 'Last answer', 'Next']}
            rows={deadLetters.map((each) => ({
              key: `${each.webhookId} ${each.deliveryId}`,
              cells: [
                each.type,
                each.conversationId === undefined ? (
                  '-'
                ) : (
                  <ConversationLink key="id" id={each.conversationId} />
                ),
                agoWords(each.at, now),
                String(each.attempts),
                [each.lastStatus, each.lastError].filter((one) => one !== undefined).join(' ') ||
                  '-',
                <Command key="next" text={each.nextCommand} />,
              ],
            }))}
          />
        )
      }
    </Part>
  );
}
