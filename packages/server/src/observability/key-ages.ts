import { createReading } from './metric-family.ts'

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

/**
 * Creates a gauge with the age of each signing key in seconds. If the keys cannot be listed, it has no samples.
 *
 * @returns `refresh`: reads the list. Call it before the text is read
 */
export function createKeyAges(provider: () => KeyLister | undefined) {
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

  const read = () => {
    const now = Date.now() / 1000
    return listed.map(
      ({ kid, algorithm, state, createdAt }) => [[kid, algorithm, state], Math.max(0, now - createdAt)] as const,
    )
  }
  const labelNames = ['kid', 'algorithm', 'state']
  const description = { name: 'grantry_key_age_seconds', help: 'Age of the signing keys', labelNames }
  return { refresh, text: createReading('gauge', description, read).text }
}
