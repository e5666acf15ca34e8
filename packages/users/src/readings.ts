import type { UserQuestion } from '@grantry/core'

/** What was read of the user of a request together with the state, for the claims that the same request asks for. */
export interface Readings<T> {
  keep(question: UserQuestion | undefined, sub: string, found: T): void
  /** Returns what was kept, or reads it. */
  of(question: UserQuestion | undefined, sub: string, read: () => Promise<T>): Promise<T>
}

export function createReadings<T>(): Readings<T> {
  const readings = new WeakMap<object, { readonly sub: string; readonly found: T }>()
  return {
    keep(question, sub, found) {
      if (question?.request !== undefined) readings.set(question.request, { sub, found })
    },
    async of(question, sub, read) {
      const kept = question?.request && readings.get(question.request)
      return kept?.sub === sub ? kept.found : read()
    },
  }
}
