import { DurableObject } from 'cloudflare:workers'

interface Stored {
  readonly value: string
  /** Milliseconds since the epoch. */
  readonly ends: number
}

/**
 * One stored item. A Durable Object has one instance worldwide, with one thread. `insert`, `increment` and `replace`
 * await nothing between their read and their write, so exactly one of several concurrent inserts, or replacements of one
 * value, returns `true`, and no two increments return the same number.
 */
export class Item extends DurableObject {
  private live(): Stored | undefined {
    const stored = this.ctx.storage.kv.get<Stored>('item')
    return stored !== undefined && stored.ends > Date.now() ? stored : undefined
  }

  read(): string | null {
    return this.live()?.value ?? null
  }

  async write(value: string, ttl: number): Promise<void> {
    const ends = Date.now() + ttl * 1000
    this.ctx.storage.kv.put<Stored>('item', { value, ends })
    await this.ctx.storage.setAlarm(ends)
  }

  async insert(value: string, ttl: number): Promise<boolean> {
    if (this.read() !== null) return false
    await this.write(value, ttl)
    return true
  }

  /** The expiry is set when the counter is created. */
  async increment(ttl: number): Promise<number> {
    const stored = this.live()
    const count = Number(stored?.value ?? 0) + 1
    if (stored === undefined) await this.write('1', ttl)
    else this.ctx.storage.kv.put<Stored>('item', { ...stored, value: String(count) })
    return count
  }

  async replace(from: string, to: string, ttl: number): Promise<boolean> {
    if (this.read() !== from) return false
    await this.write(to, ttl)
    return true
  }

  async remove(): Promise<void> {
    await this.ctx.storage.deleteAll()
  }

  /** Removes the item after its expiry. */
  override async alarm(): Promise<void> {
    if (this.read() === null) await this.remove()
  }
}
