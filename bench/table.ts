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

/** A number of things, rounded. */
export function count(number: number): string {
  return Math.round(number).toLocaleString('en-US');
}
