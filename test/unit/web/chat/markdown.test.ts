/** Markdown of models as known elements: no text becomes markup, and no link leads elsewhere than to the web or a mail. */
import { describe, expect, it } from 'vitest';
import {
  allowedAddress,
  markdownOf,
  placeOfLink,
  plainText,
  type TextElement,
  type TextNode,
} from '../../../../web/chat/model/markdown.js';
import { promise } from '../../../support/promise.js';

const TAGS = [
  ...['p', 'ul', 'ol', 'li', 'blockquote', 'pre', 'code', 'em', 'strong', 's', 'a', 'br', 'hr'],
  ...['table', 'thead', 'tbody', 'tr', 'th', 'td'],
];

function elementsOf(nodes: readonly TextNode[]): readonly TextElement[] {
  return nodes.flatMap((node) =>
    typeof node === 'string' ? [] : [node, ...elementsOf(node.children)],
  );
}

function hrefsOf(text: string): readonly (string | undefined)[] {
  return elementsOf(markdownOf(text)).flatMap(({ tag, href }) => (tag === 'a' ? [href] : []));
}

const HOSTILE: readonly string[] = [
  '<script>alert(1)</script>',
  '<img src=x onerror="alert(1)">',
  '<a href="javascript:alert(1)">x</a>',
  '"><svg onload=alert(1)>',
  '<style>body { display: none }</style>',
  '<iframe srcdoc="<script>parent.alert(1)</script>"></iframe>',
  '<!-- --><b onclick=alert(1)>b</b>',
  '<p>\n\n<script>\nalert(1)\n</script>\n\n</p>',
  '- <script>\n  alert(1)\n  </script>',
  '> <form action=/x><button>go</button></form>',
  '| a | <img src=x> |\n|---|---|\n| <b>1</b> | 2 |',
  '```<script>\n<script>alert(1)</script>\n```',
  '[x](javascript:alert(1))',
  '[x](JaVaScRiPt:alert(1))',
  '[x](java\tscript:alert(1))',
  '[x](<java\nscript:alert(1)>)',
  '[x](&#106;avascript:alert(1))',
  '[x](&#x6A;&#x61;vascript&colon;alert(1))',
  '[x]( javascript:alert(1))',
  '[x](\u0001javascript:alert(1))',
  '[x](vbscript:msgbox(1))',
  '[x](data:text/html,<script>alert(1)</script>)',
  '[x](data:text/html;base64,PHNjcmlwdD4=)',
  '[x](blob:null/1)',
  '[x](file:///etc/passwd)',
  '[x](ftp://a.invalid/)',
  '[x](intent://a#Intent;end)',
  '[x](/ui/inbox)',
  '[x](//a.invalid/)',
  '[x](#top)',
  '[x](?q=1)',
  '[x](./y)',
  '<javascript:alert(1)>',
  '<data:text/html,x>',
  '[x][r]\n\n[r]: javascript:alert(1)',
  '![x](javascript:alert(1))',
  '![x](data:image/svg+xml,<svg onload=alert(1)>)',
  '[![x](javascript:alert(1))](javascript:alert(2))',
  '[__proto__](javascript:alert(1) "title")',
  '\u202Etxt.exe\u202D \u2066 \u200F',
  '&lt;b&gt; &#x3c;b&#x3e; \\<b\\> ${alert(1)} {{alert(1)}}',
  '[x](http://[)',
  '[x](https://)',
];

describe('a hostile text', promise('G390'), () => {
  it.each(HOSTILE)('%j makes known elements without an address', (text) => {
    const elements = elementsOf(markdownOf(text));
    expect(elements.map(({ tag }) => tag).filter((tag) => !TAGS.includes(tag))).toEqual([]);
    expect(elements.flatMap(({ href }) => href ?? [])).toEqual([]);
    const fields = new Set(elements.flatMap((element) => Object.keys(element)));
    const known = ['tag', 'children', 'href', 'start', 'heading'];
    expect([...fields].filter((name) => !known.includes(name))).toEqual([]);
  });
});

it.each([
  ['# A\n\n### B', [{ heading: 1 }, { heading: 3 }]],
  ['1. a\n2. b', [{ tag: 'ol' }, { tag: 'li' }, { tag: 'li' }]],
  ['7. a', [{ tag: 'ol', start: 7 }, { tag: 'li' }]],
  ['- a\n\n- b', [{ tag: 'ul' }, { tag: 'li' }, { tag: 'p' }, { tag: 'li' }, { tag: 'p' }]],
  ['**a** *b* ~~c~~ `d`', [{}, { tag: 'strong' }, { tag: 'em' }, { tag: 's' }, { tag: 'code' }]],
  ['> a\n\n---', [{ tag: 'blockquote' }, { tag: 'p' }, { tag: 'hr' }]],
  ['```ts\nlet a\n```', [{ tag: 'pre', children: ['let a\n'] }]],
  ['a  \nb', [{ tag: 'p' }, { tag: 'br' }]],
])('%j has its elements', (text, expected) => {
  expect(elementsOf(markdownOf(text))).toMatchObject(expected);
});

it('a table has rows of cells', () => {
  const table = markdownOf('| a | b |\n|---|:-:|\n| 1 | 2 |');
  expect(elementsOf(table).map(({ tag }) => tag)).toEqual([
    ...['table', 'thead', 'tr', 'th', 'th', 'tbody', 'tr', 'td', 'td'],
  ]);
  expect(plainText(table)).toBe('a b \n1 2 \n');
});

describe('a link', () => {
  it('leads to the web or to a mail, and is found in the text', () => {
    expect(hrefsOf('[a](https://a.example/x?y=1) http://b.example and <me@c.example>')).toEqual([
      'https://a.example/x?y=1',
      'http://b.example/',
      'mailto:me@c.example',
    ]);
  });

  it('in place of a picture, which is not loaded', () => {
    const [paragraph] = markdownOf('![A cat](https://a.example/cat.png)');
    expect(elementsOf([paragraph ?? ''])).toMatchObject([
      { tag: 'p' },
      { tag: 'a', href: 'https://a.example/cat.png', children: ['A cat'] },
    ]);
    expect(hrefsOf('![](https://a.example/cat.png)')).toEqual(['https://a.example/cat.png']);
  });

  it.each([
    ['https://evil.example/login', 'bank.example', 'evil.example'],
    ['https://evil.example/login', 'https://bank.example/login', 'evil.example'],
    ['https://a.example/x', 'https://a.example/x', undefined],
    ['https://a.example:8080/', 'A.EXAMPLE:8080', undefined],
    ['mailto:eve@evil.example', 'Write to us', 'eve@evil.example'],
    ['https://user@evil.example/', 'bank.example', 'evil.example'],
    // The browser's form of a name with letters that look alike.
    ['https://xn--e1awd7f.example/', 'еріс.example', 'xn--e1awd7f.example'],
  ])('to %s under the text %s says where it leads: %s', (href, text, place) => {
    expect(placeOfLink(href, text)).toBe(place);
  });

  it('has the address as a browser reads it', () => {
    expect(allowedAddress('HTTPS://A.example/%3Cb%3E')).toBe('https://a.example/%3Cb%3E');
    expect(allowedAddress('java\nscript:alert(1)')).toBeUndefined();
  });
});

describe('a text without end', () => {
  it.each([
    ['nested quotes', '>'.repeat(50_000)],
    ['nested lists', '- '.repeat(50_000)],
    ['nested brackets', '['.repeat(50_000)],
    ['open emphasis', '*a **b '.repeat(14_000)],
    ['backticks', '`a '.repeat(33_000)],
    ['links', '[a](https://a.example) '.repeat(4_000)],
    ['one line', 'a'.repeat(100_000)],
  ])('%s takes less than five seconds', (_name, text) => {
    const started = performance.now();
    expect(plainText(markdownOf(text)).length).toBeGreaterThan(0);
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it('nested deeper than the parser goes is shown as it is, and nothing of it is left out', () => {
    const text = `${'> '.repeat(80)}Delete everything?`;
    expect(markdownOf(text)).toEqual([{ tag: 'pre', children: [text] }]);
    expect(plainText(markdownOf(`${'> '.repeat(20)}Yes`))).toBe('Yes\n');
  });

  it('of more than 100,000 characters is shown as it is', () => {
    const text = '# <b>\n'.repeat(20_000);
    expect(markdownOf(text)).toEqual([{ tag: 'pre', children: [text] }]);
  });
});
