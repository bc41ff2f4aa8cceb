/** One line of the report. The target applies to `ratio`. */
export type Row = {
  name: string;
  ours: number | string;
  against: number | string;
  /** Our figure divided by the other one; our figure itself in a row with an absolute limit. */
  ratio: number;
  target: string;
  pass: boolean;
};

/** The limit for a ratio, such as `<= 0.5`. */
export type Target = { is: '>=' | '<=' | '<' | '='; limit: number };

/** A row that compares two figures; the name includes their unit. */
export function compare(name: string, ours: number, against: number, target: Target): Row {
  return judged(name, round(ours), round(against), ours / against, target);
}

/** A row with one figure and an absolute limit; `beside` is shown for comparison only. */
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
