/** Tables of operators, commands to copy, and links to conversations. */
import type { SeenPart } from 'colloquy/browser/operations';
import { type ReactNode, useId } from 'react';
import { CopyButton } from '../../shared/copy.js';
import { conversationAddress } from '../../shared/places.js';
import { missingWords } from '../model/words.js';

/** A part with its heading. `children` are shown of a part that is known. */
export function Part<Found extends object>(props: {
  readonly title: string;
  readonly part: SeenPart<Found>;
  readonly children: (found: Found) => ReactNode;
}): ReactNode {
  const { title, part, children } = props;
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {part.status === 'known' ? children(part) : <p className="error">{missingWords(part)}</p>}
    </section>
  );
}

/** On a narrow screen the table scrolls, not the page; so it takes the focus of the keyboard. */
export function Table(props: {
  readonly caption: string;
  readonly heads: readonly string[];
  readonly rows: readonly { readonly key: string; readonly cells: readonly ReactNode[] }[];
}): ReactNode {
  const { caption, heads, rows } = props;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is scrolled by the keyboard, too.
    <section className="table" aria-label={caption} tabIndex={0}>
      <table>
        <caption className="hidden">{caption}</caption>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells }) => (
            <tr key={key}>
              {cells.map((cell, index) => (
                <td key={heads[index]}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** The next command, and a button that copies it. */
export function Command({ text }: { readonly text: string }): ReactNode {
  return (
    <span className="command">
      <code>{text}</code>{' '}
      <CopyButton text={text} label={`Copy ${text}`}>
        Copy
      </CopyButton>
    </span>
  );
}

export function ConversationLink({ id }: { readonly id: string }): ReactNode {
  return <a href={conversationAddress(id)}>{id}</a>;
}
