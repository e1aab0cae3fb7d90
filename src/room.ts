/**
 * Room that organizations share, in bytes or characters. One may take at most half of what the others leave, so that none can leave
 * another without room.
 */
export class Room {
  private readonly holders = new Map<string, number>();
  private all = 0;

  constructor(private readonly limit: number) {}

  /** How much all of them have taken. */
  get taken(): number {
    return this.all;
  }

  /** Whether an organization may not take more, or not this much more. */
  isFull(orgId: string, more = 1): boolean {
    const own = this.holders.get(orgId) ?? 0;
    return own + more > (this.limit - (this.all - own)) / 2;
  }

  /** Whether an organization has taken any. */
  hasTaken(orgId: string): boolean {
    return this.holders.has(orgId);
  }

  take(orgId: string, amount: number): void {
    this.set(orgId, (this.holders.get(orgId) ?? 0) + amount);
  }

  giveBack(orgId: string, amount: number): void {
    this.set(orgId, Math.max(0, (this.holders.get(orgId) ?? 0) - amount));
  }

  private set(orgId: string, amount: number): void {
    this.all += amount - (this.holders.get(orgId) ?? 0);
    if (amount === 0) this.holders.delete(orgId);
    else this.holders.set(orgId, amount);
  }
}
