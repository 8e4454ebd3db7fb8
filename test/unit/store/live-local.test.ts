import { createLocalLiveChannel } from '../../../src/store/live/local.js';
import { describeLiveChannel } from '../../support/conformance/live-channel.js';

describeLiveChannel('live channel in one process', () => {
  const channel = createLocalLiveChannel();
  return { publisher: channel, subscriber: channel };
});
