import { DurableObject } from 'cloudflare:workers'

interface Stored {
  readonly value: string
  /** Milliseconds since the epoch. */
  readonly ends: number
}

/**
 * One stored item. A Durable Object has one instance worldwide, with one thread. `insert` awaits nothing between its
 * check and its write, so exactly one of several concurrent calls for a code returns `true`.
 */
export class Item extends DurableObject {
  read(): string | null {
    const stored = this.ctx.storage.kv.get<Stored>('item')
    return stored !== undefined && stored.ends > Date.now() ? stored.value : null
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

  async remove(): Promise<void> {
    await this.ctx.storage.deleteAll()
  }

  /** Removes the item after its expiry. */
  override async alarm(): Promise<void> {
    if (this.read() === null) await this.remove()
  }
}
