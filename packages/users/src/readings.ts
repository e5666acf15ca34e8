import type { UserQuestion } from '@grantry/core'

/** Keeps the row or entry of a user that was read for the state, for the claims that the same request asks for. */
export function createReadings<T>() {
  const readings = new WeakMap<object, { readonly sub: string; readonly reading: T }>()
  return {
    keep(question: UserQuestion | undefined, sub: string, reading: T): void {
      if (question?.request !== undefined) readings.set(question.request, { sub, reading })
    },
    /** Returns the kept row or entry, or reads it. */
    async of(question: UserQuestion | undefined, sub: string, read: () => Promise<T>): Promise<T> {
      const kept = question?.request && readings.get(question.request)
      return kept?.sub === sub ? kept.reading : read()
    },
  }
}
