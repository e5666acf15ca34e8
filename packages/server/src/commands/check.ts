import { resolve } from 'node:path'
import { type Finding, runRules } from '../check-rules/rule.ts'
import { findConfiguration, type LoadedConfiguration } from '../configuration/load.ts'
import { loadNamedPlugins } from '../configuration/named-plugins.ts'
import { withAllProblems } from '../doctor/all-problems.ts'
import { collectFacts } from '../doctor/collect-facts.ts'
import { runChecks } from '../doctor/run-checks.ts'
import { unusableRules } from '../doctor/unusable.ts'
import { errorInFile, problemsIn } from '../error-message.ts'
import { requireConfiguration } from '../opening/open-configuration.ts'
import { jsonText, sanitizeText } from '../sanitize-text.ts'

export interface CheckArguments {
  readonly config?: string
  readonly json?: boolean
}

type Severity = Finding['severity']

const severities: readonly Severity[] = ['error', 'warning', 'info', 'accepted']

function countFindings(findings: readonly Finding[], severity: Severity): number {
  return findings.filter((finding) => finding.severity === severity).length
}

const formatFinding = ({ severity, id, where, reason, remedy, source }: Finding): string =>
  [`${severity.padEnd(8)} ${id}`, `at      ${where}`, `why     ${reason}`, `do      ${remedy}`, `source  ${source}`]
    // Reasons can quote text from an untrusted source.
    .map((line) => `${sanitizeText(line)}\n`)
    .join('  ')

async function findProblems({ config }: CheckArguments): Promise<readonly Finding[]> {
  let loaded: LoadedConfiguration | undefined
  try {
    loaded = await requireConfiguration(config)
    return runChecks(await collectFacts(loaded))
  } catch (cause) {
    const file = config ?? findConfiguration(process.cwd())
    const problems = file === undefined ? problemsIn(cause) : await problemsOfFile(cause, resolve(file))
    await loadNamedPlugins()
    return runRules(unusableRules, { file: file ?? process.cwd(), problems, configuration: loaded?.configuration })
  }
}

/** Returns all mistakes of a configuration that cannot be used, without the name of its file. */
async function problemsOfFile(cause: unknown, file: string): Promise<readonly string[]> {
  const start = `${file}: `
  const isNamed = cause instanceof Error && cause.message.startsWith(start)
  const all = await withAllProblems(isNamed ? cause : errorInFile(cause, file), file, process.env)
  return problemsIn(all).map((problem) => problem.replace(start, ''))
}

/** Runs `grantry check`. Returns the text to print, and whether any finding is an error. */
export async function checkCommand(
  options: CheckArguments,
): Promise<{ readonly text: string; readonly failed: boolean }> {
  const findings = await findProblems(options)
  const counts = Object.fromEntries(severities.map((severity) => [severity, countFindings(findings, severity)]))
  const failed = countFindings(findings, 'error') > 0
  if (options.json === true) return { text: `${jsonText({ findings, counts })}\n`, failed }
  const summary = severities
    .filter((severity) => severity !== 'accepted' || counts.accepted !== 0)
    .map((severity) => `${counts[severity]} ${severity}`)
    .join(', ')
  const text = findings.map(formatFinding).join('\n')
  return { text: `${text}${findings.length > 0 ? '\n' : ''}${summary}\n`, failed }
}
