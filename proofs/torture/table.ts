import { activities, invariants } from './ledger.ts'
import type { TortureReport } from './torture.ts'

/** Violations of one invariant that are shown: the rest are similar. */
const shown = 20

export const isViolated = ({ violations }: Pick<TortureReport, 'violations'>): boolean =>
  Object.values(violations).some((ofKind) => ofKind.length > 0)

const row = (name: string, ...cells: readonly (string | number)[]): string =>
  [name.padEnd(26), ...cells.map((cell) => String(cell).padStart(10))].join(' ').trimEnd()

/** A human-readable report. */
export function table(report: TortureReport): string {
  const { counts, checks, violations, seconds, longestSilence, records, events } = report
  const perSecond = (counts.requests / seconds).toFixed(0)
  return [
    row('worked for', `${seconds.toFixed(1)} s`, `${perSecond}/s`),
    row('longest without a refresh', `${longestSilence.toFixed(1)} s`),
    row('records at the end', records),
    '',
    ...activities.map((name) => row(name, counts[name])),
    '',
    row('seen by the servers'),
    ...Object.keys(events)
      .sort()
      .map((name) => row(`  ${name}`, events[name] ?? 0)),
    '',
    row('invariant', 'checks', 'violations'),
    ...invariants.map((name) => row(name, checks[name], violations[name].length)),
    ...invariants.flatMap((name) => violations[name].slice(0, shown).map((what) => `${name}: ${what}`)),
    '',
  ].join('\n')
}
