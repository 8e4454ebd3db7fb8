/** Keeps the fault of one part from the rest of the page: in its place are the error, and a button that shows it again. */
import { Component, type ReactNode } from 'react';
import { whyOf } from './why.js';

interface Props {
  /** Names the part, at the beginning of a sentence. */
  readonly name: string;
  /** The value that the part shows: another one shows the part again. */
  readonly of?: unknown;
  /** In place of showing the part again. */
  readonly onAgain?: () => void;
  /** Text alone, for a part inside of a button or a line. */
  readonly isText?: boolean;
  readonly children: ReactNode;
}

interface State {
  readonly failure?: { readonly error: unknown } | undefined;
}

export class Boundary extends Component<Props, State> {
  override readonly state: State = {};

  static getDerivedStateFromError(error: unknown): State {
    return { failure: { error } };
  }

  override componentDidUpdate({ of }: Props): void {
    if (this.state.failure !== undefined && of !== this.props.of) this.#again();
  }

  override render(): ReactNode {
    const { failure } = this.state;
    const { name, onAgain, isText = false, children } = this.props;
    if (failure === undefined) return children;
    const text = `${name} cannot be shown: ${whyOf(failure.error)}`;
    if (isText) return <span className="line cut error">{text}</span>;
    return (
      <div className="fault" role="alert">
        <p className="error">{text}</p>
        <button type="button" onClick={onAgain ?? (() => this.#again())}>
          Show again
        </button>
      </div>
    );
  }

  #again(): void {
    this.setState({ failure: undefined });
  }
}
