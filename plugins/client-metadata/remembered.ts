import type { Outcome } from './fetched-document.ts'

/** The clients, and the failures, that a process remembers by the URLs of their documents. */
export interface RememberedOutcomes {
  /** @param now epoch seconds */
  get(url: string, now: number): Outcome | undefined
  /** @param until epoch seconds */
  set(url: string, outcome: Outcome, until: number): void
}

/** The maximum number of clients, and of failures, that a process remembers. */
const maxRemembered = 1000

/** Remembers clients and failures apart: requests for URLs without a document must not displace clients. */
export function createRemembered(): RememberedOutcomes {
  const clients = new Map<string, { readonly outcome: Outcome; readonly until: number }>()
  const failures: typeof clients = new Map()

  return {
    get(url, now) {
      for (const outcomes of [clients, failures]) {
        const known = outcomes.get(url)
        if (known !== undefined && now < known.until) return known.outcome
      }
      return undefined
    },
    set(url, outcome, until) {
      clients.delete(url)
      failures.delete(url)
      const outcomes = 'client' in outcome ? clients : failures
      outcomes.set(url, { outcome, until })
      const [oldest] = outcomes.keys()
      if (outcomes.size > maxRemembered && oldest !== undefined) outcomes.delete(oldest)
    },
  }
}
