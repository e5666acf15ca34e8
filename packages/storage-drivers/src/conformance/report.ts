/** What became of one proof. */
export interface ProofResult {
  readonly name: string
  readonly outcome: 'kept' | 'broken' | 'left out'
  /** What was expected and what was seen; or why it was left out. */
  readonly sentences: readonly string[]
  readonly seconds: number
}

/** What was proved of a driver, and what was not. */
export interface DriverReport {
  /** The driver's name. */
  readonly driver: string
  readonly results: readonly ProofResult[]
  /** All of it to read, one line for a proof; what was left out is said there too. */
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

/** Every broken promise by its sentences; the report is its `cause`. */
export function errorOf(report: DriverReport): Error {
  const list = report.results
    .filter(({ outcome }) => outcome === 'broken')
    .flatMap(({ name, sentences }) => [`- ${name}:`, ...sentences.map((sentence) => `    ${sentence}`)])
  return new Error(`${report.driver} is not fit to keep codes and tokens:\n${list.join('\n')}`, { cause: report })
}
