import { median, type Taken } from './run-process.js';

/** Prints a table row by row, as wide as its head: the first column to the left, the others to the right. Answers what prints a row. */
export function table(...head: readonly string[]): (...cells: readonly string[]) => void {
  const print = (cells: readonly string[]) =>
    console.log(
      cells
        .map((cell, index) =>
          (index === 0 ? cell.padEnd : cell.padStart).call(cell, head[index]?.length ?? 0),
        )
        .join('  '),
    );
  print(head);
  return (...cells) => print(cells);
}

/**
 * Prints what rounds took, each with the same groups of things: the median of the seconds, and of how many times as long a thing took as the
 * first one of its group in the same round; and the most memory.
 */
export function compare(rounds: readonly (readonly Readonly<Record<string, Taken>>[])[]): void {
  for (const [index, things] of (rounds[0] ?? []).entries()) {
    const [base = '', ...others] = Object.keys(things);
    const row = table(`median of ${rounds.length}`.padEnd(46), 'seconds', ' times', '  MiB');
    for (const name of [base, ...others]) {
      const all = rounds.flatMap((round) => {
        const { [name]: taken, [base]: first } = round[index] ?? {};
        return taken && first ? [{ ...taken, times: taken.seconds / first.seconds }] : [];
      });
      const text = (number: number) => number.toFixed(number < 0.1 ? 4 : 2);
      row(
        name,
        text(median(all.map(({ seconds }) => seconds))),
        text(median(all.map(({ times }) => times))),
        String(Math.max(...all.map(({ memory }) => memory))),
      );
    }
  }
}

/** A number of things, rounded. */
export function count(number: number): string {
  return Math.round(number).toLocaleString('en-US');
}
