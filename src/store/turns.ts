/** Work of one process that takes turns with all other work of its name, also after one that failed. */
export class Turns {
  /** The end of the last work of each name that waits or goes on. */
  private readonly ends = new Map<string, Promise<unknown>>();

  run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.ends.get(name) ?? Promise.resolve()).then(work);
    const end = turn
      .catch(() => undefined)
      .then(() => {
        if (this.ends.get(name) === end) this.ends.delete(name);
      });
    this.ends.set(name, end);
    return turn;
  }
}
