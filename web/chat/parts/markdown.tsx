/** Markdown as elements of the page. A link says where it leads, and opens a page of its own. */
import { memo, type ReactNode } from 'react';
import {
  markdownOf,
  placeOfLink,
  plainText,
  type TextElement,
  type TextNode,
} from '../model/markdown.js';

export const Markdown = memo(function Markdown({ text }: { readonly text: string }): ReactNode {
  return <div className="markdown">{shown(markdownOf(text))}</div>;
});

function shown(nodes: readonly TextNode[]): readonly ReactNode[] {
  return nodes.map((node, index) =>
    // The tree is made anew with its text: no element has a state.
    typeof node === 'string' ? node : <Element key={index} element={node} />,
  );
}

function Element({ element }: { readonly element: TextElement }): ReactNode {
  const { tag: Tag, children, href, start, heading } = element;
  switch (Tag) {
    case 'br':
    case 'hr':
      return <Tag />;
    case 'a':
      return <Link href={href ?? ''}>{children}</Link>;
    case 'ol':
      return <ol start={start}>{shown(children)}</ol>;
    case 'pre':
      return (
        <pre tabIndex={0}>
          <code>{shown(children)}</code>
        </pre>
      );
    case 'table':
      return (
        <div className="table" tabIndex={0} role="group" aria-label="Table">
          <table>{shown(children)}</table>
        </div>
      );
    default:
      return <Tag className={heading === undefined ? undefined : 'heading'}>{shown(children)}</Tag>;
  }
}

function Link(props: { readonly href: string; readonly children: readonly TextNode[] }): ReactNode {
  const { href, children } = props;
  const place = placeOfLink(href, plainText(children));
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {shown(children)}
      {place === undefined ? undefined : <span className="hint"> ({place})</span>}
    </a>
  );
}
