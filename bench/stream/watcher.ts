/** Watches one conversation over the live channel, in a process of its own, so that its work is not counted. */
import { openEventLog } from 'colloquy/log';

const [file = '', conversationId = ''] = process.argv.slice(2);
const opened = await openEventLog(file);
let seen = 0;
opened.live.subscribe({ tenant: 'default', conversationId }, { live: true }, () => {
  seen += 1;
});
process.on('message', () => process.send?.(seen));
process.once('disconnect', () => void opened.close());
process.send?.('ready');
