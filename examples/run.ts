/**
 * Runs one of the examples:
 *
 *   npm run example -- hello
 */
import { existsSync, readdirSync } from 'node:fs';

const here = new URL('.', import.meta.url);
const names = readdirSync(here, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && existsSync(new URL(`${entry.name}/agents.js`, here)))
  .filter(({ name }) => existsSync(new URL(`${name}/run.js`, here)) && name !== 'demo')
  .map(({ name }) => name)
  .toSorted();
const [, , name = ''] = process.argv;
if (names.includes(name)) await import(new URL(`${name}/run.js`, here).href);
else {
  console.error(
    `Usage: npm run example -- <name>\n\n${names.map((each) => `  ${each}`).join('\n')}`,
  );
  process.exitCode = 2;
}
