/** The result of one proof. */
export interface ProofResult {
  readonly name: string
  readonly outcome: 'kept' | 'broken' | 'left out'
  /** What was expected and what was seen, or why the proof was left out. */
  readonly sentences: readonly string[]
  readonly seconds: number
}

/** The results of all proofs for a driver. */
export interface DriverReport {
  /** The driver's name. */
  readonly driver: string
  readonly results: readonly ProofResult[]
  /** The report as text, one line per proof, including those left out. */
  readonly text: string
}

const count = (results: readonly ProofResult[], outcome: ProofResult['outcome']): number =>
  results.filter((result) => result.outcome === outcome).length

const lines = ({ name, outcome, sentences, seconds }: ProofResult): string =>
  [
    `${outcome.padEnd(8)} ${name} (${seconds.toFixed(1)} s)`,
    ...sentences.map((sentence) => `           ${sentence}`),
  ].join('\n')

export function reportOf(name: string | undefined, results: readonly ProofResult[]): DriverReport {
  const driver = name ?? 'the driver'
  const [kept, broken, leftOut] = [count(results, 'kept'), count(results, 'broken'), count(results, 'left out')]
  const head = `${driver}: ${kept} promises kept, ${broken} broken, ${leftOut} not proved`
  return { driver, results, text: [head, ...results.map(lines)].join('\n') }
}

/** Returns an error that lists every broken promise; its `cause` is the report. */
export function errorOf(report: DriverReport): Error {
  const list = report.results
    .filter(({ outcome }) => outcome === 'broken')
    .flatMap(({ name, sentences }) => [`- ${name}:`, ...sentences.map((sentence) => `    ${sentence}`)])
  return new Error(`${report.driver} is not safe for codes and tokens:\n${list.join('\n')}`, { cause: report })
}
