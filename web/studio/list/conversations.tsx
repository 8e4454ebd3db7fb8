/** The list of conversations: filters, live status, pages. */
import type { ConversationSnapshot } from 'colloquy/browser/studio';
import { agentsOf } from 'colloquy/browser/worklist';
import { agoWords } from 'colloquy/react';
import { type ReactNode, type SyntheticEvent, useId } from 'react';
import { Boundary } from '../../shared/boundary.js';
import { emptyWords, type FaceProps, Top } from '../../shared/face.js';
import { useNow } from '../../shared/now.js';
import { conversationAddress } from '../../shared/places.js';
import { type UsedList, useList } from '../hooks/use-list.js';
import { useRead } from '../hooks/use-read.js';
import { changed, matching, STATUSES } from '../model/choice.js';
import { statusWords, usageWords } from '../model/words.js';

export function Conversations(props: FaceProps): ReactNode {
  const list = useList(props.session);
  const { view, choice, loadMore } = list;
  const shown = matching(view.conversations, choice);
  return (
    <>
      <Top {...props} connection={view.connection} />
      <main className="conversations">
        <Filters list={list} agents={useAgents(props)} />
        <p role="status" className="hint">
          {view.isRead ? `${shown.length} shown${view.hasMore ? ', and there are more' : ''}` : ''}
        </p>
        {shown.length > 0 ? (
          <ul className="cards" aria-label="Conversations">
            {shown.map((one) => (
              <li key={one.conversationId} className="card">
                <Boundary name={`Conversation ${one.conversationId}`} of={one} isText>
                  <Card conversation={one} />
                </Boundary>
              </li>
            ))}
          </ul>
        ) : (
          <p className="empty">
            {emptyWords(view, { reading: 'Reads the list …', none: 'No conversation here.' })}
          </p>
        )}
        {view.hasMore ? (
          <button type="button" onClick={loadMore}>
            Show more
          </button>
        ) : undefined}
      </main>
    </>
  );
}

function useAgents({ session }: FaceProps): readonly string[] {
  const read = useRead('agents', async () => await agentsOf(session.client));
  return read.is === 'read' ? read.value.map(({ name }) => name) : [];
}

function Filters(props: {
  readonly list: UsedList;
  readonly agents: readonly string[];
}): ReactNode {
  const { choice, choose } = props.list;
  const { agent, search = '' } = choice;
  const open = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (search !== '') location.assign(conversationAddress(search));
  };
  const isListed = agent === undefined || props.agents.includes(agent);
  const agents = isListed ? props.agents : [agent, ...props.agents];
  return (
    <form className="filters" onSubmit={open}>
      <Select
        label="Status"
        value={choice.status}
        options={STATUSES}
        onChoose={(status) => choose(changed(choice, { status }))}
      />
      <Select
        label="Agent"
        value={agent}
        options={agents.map((name) => [name, name] as const)}
        onChoose={(name) => choose(changed(choice, { agent: name }))}
      />
      <label>
        <input
          type="checkbox"
          checked={choice.attention === true}
          onChange={({ target }) =>
            choose(changed(choice, { attention: target.checked ? true : undefined }))
          }
        />{' '}
        Needs attention
      </label>
      <Search
        search={search}
        onSearch={(text) => choose(changed(choice, { search: text === '' ? undefined : text }))}
      />
    </form>
  );
}

function Select<Value extends string>(props: {
  readonly label: string;
  readonly value: Value | undefined;
  readonly options: readonly (readonly [Value, string])[];
  readonly onChoose: (value: Value | undefined) => void;
}): ReactNode {
  const { label, value, options, onChoose } = props;
  return (
    <label>
      {label}{' '}
      <select
        value={value ?? ''}
        onChange={({ target }) => onChoose(options.find(([name]) => name === target.value)?.[0])}
      >
        <option value="">any</option>
        {options.map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

function Search(props: {
  readonly search: string;
  readonly onSearch: (text: string) => void;
}): ReactNode {
  const { search, onSearch } = props;
  const hint = useId();
  return (
    <>
      <label className="search">
        <span className="hidden">Id</span>
        <input
          type="search"
          placeholder="Id"
          value={search}
          aria-describedby={hint}
          onChange={({ target }) => onSearch(target.value)}
        />
      </label>
      <button type="submit" disabled={search === ''}>
        Open
      </button>
      <span id={hint} className="hint">
        Enter opens the conversation with this id.
      </span>
    </>
  );
}

function Card({ conversation }: { readonly conversation: ConversationSnapshot }): ReactNode {
  const { conversationId, title, agent, status, updatedAt, pending, usage } = conversation;
  const { parent, origin } = conversation;
  const now = useNow();
  return (
    <>
      <a href={conversationAddress(conversationId)}>{conversationId}</a>
      <span className={`status ${status}`}>{statusWords(conversation)}</span>
      {title === undefined ? undefined : <span className="title">{title}</span>}
      <span className="hint">
        {agent} · changed <time dateTime={updatedAt}>{agoWords(updatedAt, now)}</time>
        {pending.length === 0 ? '' : ` · ${pending.length} waiting`} · {usageWords(usage)}
        {parent === undefined ? '' : ` · sub-agent below ${parent.root}`}
        {origin === undefined ? '' : ` · fork of ${origin.conversationId}`}
      </span>
    </>
  );
}
