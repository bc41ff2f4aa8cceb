/** One line of the report. The target is about `ratio`. */
export type Row = {
  name: string;
  ours: number | string;
  against: number | string;
  /** Ours to the other's; where a row has a limit of its own and nothing beside it, our figure itself. */
  ratio: number;
  target: string;
  pass: boolean;
};

/** A limit that a ratio keeps, written as people read it: `<= 0.5`. */
export type Target = { is: '>=' | '<=' | '<' | '='; limit: number };

/** A row of two figures of the same unit, which belongs in the name. */
export function compare(name: string, ours: number, against: number, target: Target): Row {
  return judged(name, round(ours), round(against), ours / against, target);
}

/** A row of one figure that has a limit of its own; `beside` is told for comparison only. */
export function limit(name: string, ours: number, beside: string, target: Target): Row {
  return judged(name, round(ours), beside, ours, target);
}

function judged(
  name: string,
  ours: number,
  against: number | string,
  ratio: number,
  { is, limit }: Target,
): Row {
  return {
    name,
    ours,
    against,
    ratio: round(ratio),
    target: `${is} ${limit}`,
    pass: HOLDS[is](ratio, limit),
  };
}

const HOLDS: Record<Target['is'], (ratio: number, limit: number) => boolean> = {
  '>=': (ratio, limit) => ratio >= limit,
  '<=': (ratio, limit) => ratio <= limit,
  '<': (ratio, limit) => ratio < limit,
  '=': (ratio, limit) => ratio === limit,
};

function round(value: number): number {
  return Number(value.toPrecision(4));
}
