/** The page of component tests: a fault in it is seen, and a page without one is not taken for faulty. */
import { expect, it } from 'vitest';
import { accessibilityFaults } from '../support/looks.js';
import { createPolicy } from '../support/policies.js';
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

it('policies of types, base addresses and sent forms are faults, by the policy of the web page', async () => {
  expect(() => createPolicy('own')).toThrow(/disallowed/);
  const base = Object.assign(document.createElement('base'), { href: '/other/' });
  document.head.append(base);
  base.remove();
  const form = Object.assign(document.createElement('form'), { action: '/other' });
  document.body.append(form);
  form.requestSubmit();
  const seen: string[] = [];
  await expect
    .poll(() => {
      seen.push(...takeFaults());
      return ['trusted-types', 'base-uri', 'form-action'].filter(
        (directive) => !seen.some((fault) => fault.startsWith(`violation: ${directive} `)),
      );
    })
    .toEqual([]);
  form.remove();
});

const AT_THE_END = {
  markup: () => {
    try {
      document.body.innerHTML = '<b>bold</b>';
    } catch {
      // Refused; the violation comes later.
    }
  },
  'a picture of another origin': () => {
    new Image().src = 'http://other.invalid/x.png';
  },
};

it.fails.each(Object.entries(AT_THE_END))(
  '%s in the last moment of a test is a fault of it',
  (_kind, act) => act(),
);

it('rules of accessibility that a page breaks are named with the element', async () => {
  showPart(<input />);
  expect(await accessibilityFaults()).toEqual([expect.stringMatching(/^label: <input>/)]);
});
