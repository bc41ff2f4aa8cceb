/** The outcome of one client with one fault. */
export type Verdict = {
  pass: boolean;
  /** A one-line note; may be empty. */
  note: string;
};

/** Messages of a trial to its runner: first the factor for its time limit, then its outcome. */
export type TrialMessage = { patience: number } | { verdict: Verdict };

/** One row of the report: our outcome, and those of the other clients if they were run. */
export type Row = { name: string } & Verdict & { sdk?: Verdict; aiSdk?: Verdict };
