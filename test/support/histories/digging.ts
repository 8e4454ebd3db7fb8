/** A tool that returns as much text as its input asks for. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { defineTool } from '../../../src/define/define-tool.js';

export const KB = 1024;

/** Text that no compression makes much smaller. */
function noise(seed: string, bytes: number): string {
  let text = '';
  for (let block = 0; text.length < bytes; block += 1)
    text += createHash('sha512').update(`${seed} ${block}`).digest('base64');
  return text.slice(0, bytes);
}

/** Announces the place, and then calls the tool. */
export const dig = defineTool({
  name: 'dig',
  description: 'Brings up what is there.',
  input: z.object({ at: z.string(), bytes: z.number() }),
  maxResultBytes: 200 * KB,
  run: ({ at, bytes }) => `${at}: ${noise(at, bytes)}`,
});
