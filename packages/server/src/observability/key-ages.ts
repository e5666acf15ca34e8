import { Gauge, type Registry } from 'prom-client'

interface ListedKey {
  readonly kid: string
  readonly algorithm: string
  readonly state: string
  readonly createdAt: number
}

/** A provider that can list its keys. */
export interface Listing {
  readonly keys?: { list(): Promise<readonly ListedKey[]> }
}

/** Milliseconds for which a list of keys is believed: it may come out of the store, and scrapers do not wait for one. */
const remembered = 60_000

/** The age of each signing key in seconds, where the provider can list them. What fails is told by the age that is missing. */
export function createKeyAges(registers: Registry[], provider: () => Listing | undefined): void {
  let listed: readonly ListedKey[] = []
  let listedAt = Number.NEGATIVE_INFINITY
  let listing = false

  function refresh(): void {
    const keys = provider()?.keys
    if (keys === undefined || listing || performance.now() - listedAt < remembered) return
    listing = true
    const settle = (found: readonly ListedKey[]): void => {
      listed = found
      listedAt = performance.now()
      listing = false
    }
    // The age of a key that is not known any more would be a lie.
    keys.list().then(settle, () => settle([]))
  }

  new Gauge({
    name: 'grantry_key_age_seconds',
    help: 'Age of the signing keys',
    labelNames: ['kid', 'algorithm', 'state'],
    registers,
    async collect() {
      refresh()
      // One turn: a list that is in memory is there then, and nobody waits for another.
      await new Promise((resolve) => setImmediate(resolve))
      this.reset()
      const now = Date.now() / 1000
      for (const { kid, algorithm, state, createdAt } of listed) {
        this.set({ kid, algorithm, state }, Math.max(0, now - createdAt))
      }
    },
  })
}
