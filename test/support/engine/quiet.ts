/** One runtime per process, which logs errors only. Imported before any module makes a runtime of its own. */
import { DefaultLogger, Runtime } from '@temporalio/worker';

Runtime.install({ logger: new DefaultLogger('ERROR') });
