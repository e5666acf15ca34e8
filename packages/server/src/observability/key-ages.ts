import { Gauge, type Registry } from 'prom-client'

interface ListedKey {
  readonly kid: string
  readonly algorithm: string
  readonly state: string
  readonly createdAt: number
}

/** The part of a provider that lists its keys. */
export interface KeyLister {
  readonly keys?: { list(): Promise<readonly ListedKey[]> }
}

/** Milliseconds for which the list of keys is cached, because reading it can access the store. */
const cacheDuration = 60_000

/** Registers a gauge with the age of each signing key in seconds. If the keys cannot be listed, it has no samples. */
export function createKeyAges(registers: Registry[], provider: () => KeyLister | undefined): void {
  let listed: readonly ListedKey[] = []
  let listedAt = Number.NEGATIVE_INFINITY
  let listing = false

  function refresh(): void {
    const keys = provider()?.keys
    if (keys === undefined || listing || performance.now() - listedAt < cacheDuration) return
    listing = true
    const settle = (stored: readonly ListedKey[]): void => {
      listed = stored
      listedAt = performance.now()
      listing = false
    }
    // After a failure, the ages of the previous list could be wrong.
    keys.list().then(settle, () => settle([]))
  }

  new Gauge({
    name: 'grantry_key_age_seconds',
    help: 'Age of the signing keys',
    labelNames: ['kid', 'algorithm', 'state'],
    registers,
    async collect() {
      refresh()
      // One turn of the event loop is enough for a list in memory. A scrape does not wait for the store.
      await new Promise((resolve) => setImmediate(resolve))
      this.reset()
      const now = Date.now() / 1000
      for (const { kid, algorithm, state, createdAt } of listed) {
        this.set({ kid, algorithm, state }, Math.max(0, now - createdAt))
      }
    },
  })
}
