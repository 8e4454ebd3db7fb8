/** The context that all functions of a plugin get. Types only. */
import type { Logger, UntypedServices } from '../tool/context.js';
import type { PortAccess } from '../tool/ports.js';

/** The declared functions get the declaration's `config` besides. */
export interface PluginContext<Services = UntypedServices> extends PortAccess {
  readonly services: Services;
  /** Every line carries the plugin's id. */
  readonly logger: Logger;
}
