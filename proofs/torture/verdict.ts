import { expect } from 'vitest'
import { type Activity, invariants } from './ledger.ts'
import type { TortureReport } from './torture.ts'

/** What a run must have seen: less proves nothing. */
export type Happenings = Readonly<Partial<Record<Activity, number>>>

/** For clients: retries of failed requests among them, and every way in which a family ends. */
export const clientsWorked: Happenings = {
  refreshes: 60,
  retriesAnswered: 1,
  twins: 1,
  revocations: 1,
  accessRevocations: 1,
  lateReplays: 1,
  otherReplays: 1,
  walkedReplays: 1,
  inspections: 10,
}

const nothing = Object.fromEntries(invariants.map((name) => [name, []]))

/** No invariant is violated, each was tested, and every expected event happened. */
export function expectUnharmed({ violations, checks, counts }: TortureReport, happenings: Happenings): void {
  expect(violations).toEqual(nothing)
  for (const invariant of invariants) expect(checks[invariant], invariant).toBeGreaterThan(0)
  for (const [activity, least] of Object.entries(happenings)) {
    expect(counts[activity as Activity], activity).toBeGreaterThanOrEqual(least)
  }
}
