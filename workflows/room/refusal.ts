import type { RefusalCode } from './words.js';

/** What a refused caller is told: what is wrong, and what to do about it. */
export interface RefusalFacts {
  readonly code: RefusalCode;
  readonly message: string;
  /** What to do next, where that is not plain from the message. */
  readonly hint?: string;
  /** The input field at fault, as it is spelt on the wire. */
  readonly field?: string;
}

/** A refusal on its way through code that answers by throwing; the rules themselves return {@link RefusalFacts}. */
export class Refusal extends Error implements RefusalFacts {
  override readonly name = 'Refusal';
  readonly hint?: string;
  readonly field?: string;

  constructor(
    readonly code: RefusalCode,
    message: string,
    hint?: string,
    field?: string,
  ) {
    super(message);
    if (hint !== undefined) this.hint = hint;
    if (field !== undefined) this.field = field;
  }

  static from(facts: RefusalFacts): Refusal {
    return new Refusal(facts.code, facts.message, facts.hint, facts.field);
  }
}
