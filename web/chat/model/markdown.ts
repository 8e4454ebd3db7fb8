/**
 * Markdown of models and people as a tree of known elements. Pure. No HTML is made of it: the page renders the tree as
 * elements of its own, so that no text can become markup, an attribute or a script.
 */
import MarkdownIt from 'markdown-it';

export type Tag =
  | 'p'
  | 'ul'
  | 'ol'
  | 'li'
  | 'blockquote'
  | 'pre'
  | 'code'
  | 'em'
  | 'strong'
  | 's'
  | 'a'
  | 'br'
  | 'hr'
  | 'table'
  | 'thead'
  | 'tbody'
  | 'tr'
  | 'th'
  | 'td';

export type TextNode = string | TextElement;

export interface TextElement {
  readonly tag: Tag;
  readonly children: readonly TextNode[];
  /** Present for `a`: an absolute address with an allowed scheme. */
  readonly href?: string;
  /** Present for a list that does not begin with 1. */
  readonly start?: number;
  /** Present for a heading, which is a paragraph: the outline is that of the page. */
  readonly heading?: number;
}

const SCHEMES: readonly string[] = ['http:', 'https:', 'mailto:'];
/** Longer texts are shown as they are: their elements would hold up the page. */
const MAX_MARKDOWN_CHARS = 100_000;
const TAGS: ReadonlySet<string> = new Set<Tag>([
  ...(['p', 'ul', 'ol', 'li', 'blockquote', 'em', 'strong', 's', 'br', 'hr'] as const),
  ...(['table', 'thead', 'tbody', 'tr', 'th', 'td'] as const),
]);

const parser = new MarkdownIt({ html: false, linkify: true });
/** The parser leaves out what is nested deeper. */
const MAX_NESTING = 60;
parser.set({ maxNesting: MAX_NESTING });
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
// A link to another address stays the text that it is.
parser.validateLink = (address) => allowedAddress(address) !== undefined;

interface Token {
  readonly type: string;
  readonly tag: string;
  readonly nesting: number;
  readonly level: number;
  readonly content: string;
  readonly hidden: boolean;
  readonly children: readonly Token[] | null;
  attrGet(name: string): string | number | null;
}

/** The address as a browser reads it, or undefined for one that is relative, broken, or of another scheme. */
export function allowedAddress(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, href } = new URL(address);
  return SCHEMES.includes(protocol) ? href : undefined;
}

/** The host to which a link leads, or its mail address; `text` names it already: undefined. */
export function placeOfLink(href: string, text: string): string | undefined {
  const { host, pathname } = new URL(href);
  const place = host === '' ? pathname : host;
  return text.toLowerCase().includes(place.toLowerCase()) ? undefined : place;
}

/** The tree of a text. Never throws. */
export function markdownOf(text: string): readonly TextNode[] {
  const asItIs: TextNode = { tag: 'pre', children: [text] };
  if (text.length > MAX_MARKDOWN_CHARS) return [asItIs];
  const tokens: readonly Token[] = parser.parse(text, {});
  return tokens.some(({ level }) => level >= MAX_NESTING - 1) ? [asItIs] : treeOf(tokens);
}

/** The characters that a reader sees. */
export function plainText(nodes: readonly TextNode[]): string {
  return nodes
    .map((node) => (typeof node === 'string' ? node : `${plainText(node.children)}${endOf(node)}`))
    .join('');
}

const ENDED: readonly Tag[] = ['p', 'li', 'pre', 'tr', 'br', 'hr'];

function endOf({ tag }: TextElement): string {
  return ENDED.includes(tag) ? '\n' : tag === 'td' || tag === 'th' ? ' ' : '';
}

function treeOf(tokens: readonly Token[]): readonly TextNode[] {
  const open: { readonly children: TextNode[]; readonly close: (children: TextNode[]) => void }[] =
    [];
  const root: TextNode[] = [];
  const add = (...nodes: readonly TextNode[]): void => {
    (open.at(-1)?.children ?? root).push(...nodes);
  };
  for (const token of tokens) {
    if (token.nesting === 1) {
      const parent = open.at(-1)?.children ?? root;
      const close = (children: TextNode[]): void => {
        parent.push(...openedBy(token, children));
      };
      open.push({ children: [], close });
    } else if (token.nesting === -1) {
      const ended = open.pop();
      ended?.close(ended.children);
    } else add(...leavesOf(token));
  }
  // A parser that leaves an element open loses nothing of it.
  for (const ended of open.reverse()) ended.close(ended.children);
  return root;
}

/** The element of a pair of tokens; its content alone where the element is not known. */
function openedBy(token: Token, children: readonly TextNode[]): readonly TextNode[] {
  const { type, tag, hidden } = token;
  if (hidden) return children;
  if (type === 'heading_open') return [{ tag: 'p', children, heading: Number(tag.slice(1)) }];
  if (type === 'link_open') {
    const href = allowedAddress(String(token.attrGet('href') ?? ''));
    return href === undefined ? children : [{ tag: 'a', children, href }];
  }
  if (!TAGS.has(tag)) return children;
  const start = Number(token.attrGet('start') ?? 1);
  const isList = tag === 'ol' && Number.isSafeInteger(start) && start !== 1;
  return [{ tag: tag as Tag, children, ...(isList ? { start } : {}) }];
}

function leavesOf(token: Token): readonly TextNode[] {
  const { type, content, children } = token;
  switch (type) {
    case 'inline':
      return treeOf(children ?? []);
    case 'softbreak':
      return ['\n'];
    case 'hardbreak':
      return [{ tag: 'br', children: [] }];
    case 'hr':
      return [{ tag: 'hr', children: [] }];
    case 'code_inline':
      return [{ tag: 'code', children: [content] }];
    case 'code_block':
    case 'fence':
      return [{ tag: 'pre', children: [content] }];
    case 'image':
      return [imageLink(token)];
    default:
      return [content];
  }
}

/** A picture is not loaded: a request to its address would say who reads the text. */
function imageLink(token: Token): TextNode {
  const text = plainText(treeOf(token.children ?? [])) || 'picture';
  const href = allowedAddress(String(token.attrGet('src') ?? ''));
  return href === undefined ? text : { tag: 'a', children: [text], href };
}
