/** The browser of the tests: a fault of a page is seen, and a page without one is not taken for faulty. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { accessibilityFaults } from '../../support/browser/accessibility.js';
import { useBrowser } from '../../support/browser/browser.js';
import { until } from '../../support/until.js';

const browser = useBrowser();

async function served(body: string): Promise<string> {
  const server = createServer((request, response) => {
    const [type, text] =
      request.url === '/' ? ['text/html', body] : ['text/javascript', 'alert(document.title)'];
    response.writeHead(200, {
      'content-type': type,
      'content-security-policy': "default-src 'self'",
    });
    response.end(text);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const SHELL = (body: string): string =>
  `<!doctype html><html lang="en"><head><title>Page</title></head><body><main><h1>Page</h1>${body}</main></body></html>`;

it('a page without a fault shows none', async () => {
  const page = await browser.open(await served(SHELL('<p>Text</p>')));
  expect(await page.locator('p').textContent()).toBe('Text');
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(browser.faults(page)).toEqual([]);
});

it('scripts that run or are refused, dialogs, and requests to other origins are faults', async () => {
  const bad = `<img src="http://other.invalid/x.png" alt=""><b onclick="x()">Bold</b>
    <script src="/alert.js"></script><script>run()</script>`;
  const page = await browser.open(await served(SHELL(bad)), { expected: /./ });
  const kinds = ['dialog: Page', 'request to http://other.invalid/x.png', 'violation: script-src'];
  for (const kind of [...kinds, 'violation: img-src', 'console error'])
    await until(kind, () => browser.faults(page).find((fault) => fault.startsWith(kind)));
  await page.evaluate('setTimeout(() => { throw new Error("late"); })');
  await until('an error that nothing catches', () => browser.faults(page).includes('error: late'));
});

it('rules of accessibility that a page breaks are named with the element', async () => {
  const page = await browser.open(await served(SHELL('<input><p style="">Text</p>')), {
    expected: /style-src/,
  });
  expect(await accessibilityFaults(page)).toEqual([expect.stringMatching(/^label: <input>/)]);
});
