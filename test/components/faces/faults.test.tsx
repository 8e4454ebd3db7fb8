/** The page of component tests: a fault in it is seen, and a page without one is not taken for faulty. */
import { expect, it } from 'vitest';
import { accessibilityFaults } from '../support/looks.js';
import { takeFaults } from '../support/seen-faults.js';
import { showPart } from '../support/show.js';

it('a page without a fault shows none', async () => {
  showPart(<p>Text</p>);
  expect(await accessibilityFaults()).toEqual([]);
  expect(takeFaults()).toEqual([]);
});

it('warnings, dialogs, markup, inline styles and requests to other origins are faults', async () => {
  const { warn } = globalThis.console;
  warn('careful');
  alert('hello');
  expect(() => {
    document.body.innerHTML = '<b>bold</b>';
  }).toThrow(/TrustedHTML/);
  const picture = new Image();
  picture.src = 'http://other.invalid/x.png';
  document.body.append(picture);
  const style = document.createElement('style');
  style.textContent = 'p { color: red }';
  document.head.append(style);
  const seen: string[] = [];
  await expect
    .poll(() => {
      seen.push(...takeFaults());
      return [
        'console warn: careful',
        'dialog: hello',
        'violation: img-src',
        'violation: style-src',
        'violation: require-trusted-types-for',
      ].filter((kind) => !seen.some((fault) => fault.startsWith(kind)));
    })
    .toEqual([]);
  picture.remove();
  style.remove();
});

it('rules of accessibility that a page breaks are named with the element', async () => {
  showPart(<input />);
  expect(await accessibilityFaults()).toEqual([expect.stringMatching(/^label: <input>/)]);
});
