/**
 * Runs every contender once per round, so that a slow phase of the machine affects all of them. Each round starts with
 * another contender, so that none always runs after the same one.
 */
export async function interleave<Name extends string, Report>(
  rounds: number,
  contenders: Record<Name, (round: number) => Promise<Report>>,
  onRound: (round: number) => void,
): Promise<Record<Name, Report[]>> {
  const names = Object.keys(contenders) as Name[];
  const reports = Object.fromEntries(names.map((name) => [name, [] as Report[]])) as Record<Name, Report[]>;
  for (let round = 0; round < rounds; round++) {
    onRound(round + 1);
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(round + turn) % names.length] as Name;
      reports[name].push(await contenders[name](round));
    }
  }
  return reports;
}
