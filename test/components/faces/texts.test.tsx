/** Texts of models and people are text: they make no element of their own, run nothing, and load nothing. */
import { describe, expect, it } from 'vitest';
import { page } from 'vitest/browser';
import { Values } from '../../../src/react/index.js';
import { Markdown } from '../../../web/chat/parts/markdown.js';
import { accessibilityFaults } from '../support/looks.js';
import { promise } from '../support/promise.js';
import { showPart } from '../support/show.js';

const ATTACKS = [
  '<img src=x onerror="alert(1)">',
  '<script>alert(1)</script>',
  '"><svg onload=alert(1)>',
  "</p></article><iframe srcdoc='<script>parent.alert(1)</script>'></iframe>",
  '<style>body { display: none }</style>',
  '<a href="javascript:alert(1)">[link](javascript:alert(1))</a>',
  '[link](data:text/html,x) [same](/ui/inbox) [other](vbscript:x)',
  '&lt;b&gt; &#x3c;b&#x3e; ${alert(1)} {{alert(1)}}',
] as const;

const KNOWN = [
  ...['P', 'UL', 'OL', 'LI', 'BLOCKQUOTE', 'PRE', 'CODE', 'EM', 'STRONG', 'S', 'A', 'BR', 'HR'],
  ...['DIV', 'TABLE', 'THEAD', 'TBODY', 'TR', 'TH', 'TD', 'SPAN', 'DL', 'DT', 'DD'],
];
const inside = () => [...document.querySelectorAll('main > :not(h1), main > :not(h1) *')];

/** Checks that the page has only elements and attributes that it makes itself. */
function expectOwnElements(): void {
  expect(inside().filter(({ tagName }) => !KNOWN.includes(tagName))).toEqual([]);
  const names = inside().flatMap((element) => element.getAttributeNames());
  expect(names.filter((name) => /^(on|src|style$)/.test(name))).toEqual([]);
}

describe('a text of a model', () => {
  it.each(ATTACKS)('makes no markup of %s', promise('H49'), async (attack) => {
    showPart(<Markdown text={attack} />);
    await expect.element(page.getByRole('main')).toBeVisible();
    expectOwnElements();
    expect(inside().filter(({ tagName }) => tagName === 'A')).toEqual([]);
    showPart(<Values value={{ [attack]: attack, nested: [attack] }} />);
    expectOwnElements();
    const shown = document.querySelector('.colloquy-values dd')?.textContent;
    expect(shown).toBe(attack);
  });

  it('has links with their hosts, which open a page of their own and give nothing away', async () => {
    const text =
      '[docs](https://docs.example/page) <https://plain.example/> ![chart](https://img.example/x.png) [mail](mailto:a@b.example)';
    showPart(<Markdown text={text} />);
    const links = page.getByRole('link').elements() as HTMLAnchorElement[];
    expect(links.map(({ textContent, href }) => [textContent, href])).toEqual([
      ['docs (docs.example)', 'https://docs.example/page'],
      ['https://plain.example/', 'https://plain.example/'],
      ['chart (img.example)', 'https://img.example/x.png'],
      ['mail (a@b.example)', 'mailto:a@b.example'],
    ]);
    for (const { target, rel } of links)
      expect([target, rel]).toEqual(['_blank', 'noopener noreferrer nofollow']);
    expect(document.images).toHaveLength(0);
    expect(await accessibilityFaults()).toEqual([]);
  });

  it('is shown with its lists, tables and code', async () => {
    const text = '# Head\n\n3. three\n\n> said\n\n| a |\n|---|\n| 1 |\n\n```\n<b>code</b>\n```\n';
    showPart(<Markdown text={text} />);
    await expect.element(page.getByText('Head')).toBeVisible();
    // The outline is that of the page.
    expect(page.getByRole('heading').elements()).toHaveLength(1);
    expect(document.querySelector('ol')?.start).toBe(3);
    expect(document.querySelector('pre')?.textContent).toBe('<b>code</b>\n');
    await expect.element(page.getByRole('table')).toBeVisible();
    expect(await accessibilityFaults()).toEqual([]);
  });
});
