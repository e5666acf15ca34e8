/** The result of one proof. */
export interface ProofResult {
  readonly name: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
  /** What was expected and what was seen, or why the proof was skipped. */
  readonly messages: readonly string[]
  readonly seconds: number
}

/** The results of all proofs for a driver. */
export interface DriverReport {
  /** The driver's name. */
  readonly driver: string
  readonly results: readonly ProofResult[]
  /** The report as text, one line per proof, including those skipped. */
  readonly text: string
}

const count = (results: readonly ProofResult[], outcome: ProofResult['outcome']): number =>
  results.filter((result) => result.outcome === outcome).length

/** Why proofs were skipped, such as `25 skipped: needs module`. */
function skipReasons(results: readonly ProofResult[]): readonly string[] {
  const reasons = new Map<string, number>()
  for (const { outcome, messages } of results) {
    const [reason] = messages
    if (outcome === 'skipped' && reason !== undefined) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  }
  return [...reasons].map(([reason, times]) => `${times} skipped: ${reason}`)
}

const lines = ({ name, outcome, messages, seconds }: ProofResult): string =>
  [
    `${outcome.padEnd(8)} ${name} (${seconds.toFixed(1)} s)`,
    ...messages.map((message) => `           ${message}`),
  ].join('\n')

export function createReport(name: string | undefined, results: readonly ProofResult[]): DriverReport {
  const driver = name ?? 'the driver'
  const [passed, failed, skipped] = [count(results, 'passed'), count(results, 'failed'), count(results, 'skipped')]
  const head = `${driver}: ${passed} passed, ${failed} failed, ${skipped} skipped`
  return { driver, results, text: [head, ...skipReasons(results), ...results.map(lines)].join('\n') }
}

/** Returns an error that lists every failed proof; its `cause` is the report. */
export function reportError(report: DriverReport): Error {
  const list = report.results
    .filter(({ outcome }) => outcome === 'failed')
    .flatMap(({ name, messages }) => [`- ${name}:`, ...messages.map((message) => `    ${message}`)])
  return new Error(`${report.driver} is not safe for codes and tokens:\n${list.join('\n')}`, { cause: report })
}
