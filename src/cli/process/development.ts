/** The words of the commands about the development identity. */
import type { DevelopmentSecret } from '../../http/identity/development.js';
import { shellQuote } from '../../protocol/workflow/shown-text.js';

export const DEVELOPMENT_NOTICE = 'development identity: loopback only, answers are not verified';

/** The secret itself is shown once, by the process that made it. */
export function secretText({ secret, file, isNew }: DevelopmentSecret): string {
  return isNew ? `${secret}  (shown once; kept in ${file})` : `in ${file}`;
}

/** The option of `curl` by which a request carries the secret, which is then on no screen and in no list of processes. */
export function curlOption(file: string): string {
  return `-H ${shellQuote(`@${file}`)}`;
}
