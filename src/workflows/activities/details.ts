/**
 * Current details of the Temporal UI, written when somebody looks: only a query reads them, and a conversation with many open
 * calls would spend more time on the page than on its task.
 */
import {
  type ActivateInput,
  type Next,
  setCurrentDetails,
  type WorkflowInternalsInterceptor,
} from '@temporalio/workflow';

/** The query with which the UI asks for them. */
const METADATA_QUERY = '__temporal_workflow_metadata';

let write: (() => string) | undefined;

/** From here on, the page is what `text` returns. One workflow has one page. */
export function provideDetails(text: () => string): void {
  write = text;
}

export class DetailsOnDemand implements WorkflowInternalsInterceptor {
  activate(input: ActivateInput, next: Next<WorkflowInternalsInterceptor, 'activate'>): void {
    const asked = input.activation.jobs?.some(
      ({ queryWorkflow }) => queryWorkflow?.queryType === METADATA_QUERY,
    );
    if (asked === true && write !== undefined) setCurrentDetails(write());
    next(input);
  }
}
