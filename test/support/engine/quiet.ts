/** One runtime per process, which says errors only. Imported before anything makes a runtime of its own. */
import { DefaultLogger, Runtime } from '@temporalio/worker';

Runtime.install({ logger: new DefaultLogger('ERROR') });
