/** What came of one client before one fault. */
export type Verdict = {
  pass: boolean;
  /** What a person would want to know of it, in a line; may be empty. */
  note: string;
};

/** What a trial tells its runner: first how much longer than usual it may take, then what came of it. */
export type TrialMessage = { patience: number } | { verdict: Verdict };

/** One line of the report: our own verdict, and those of the others if they took part. */
export type Row = { name: string } & Verdict & { sdk?: Verdict; aiSdk?: Verdict };
