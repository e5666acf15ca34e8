import { ownSentence } from '../configuration/in-file.ts'
import { findConfiguration } from '../configuration/load.ts'
import { examine } from '../doctor/examine.ts'
import { type Finding, finding } from '../doctor/finding.ts'
import { gather } from '../doctor/gather.ts'
import type { Severity } from '../doctor/rules.ts'
import { harmlessText } from '../harmless-text.ts'
import { configured } from './configured.ts'

export interface CheckArguments {
  readonly config?: string
  readonly json?: boolean
}

const severities: readonly Severity[] = ['error', 'warning', 'info']

function countOf(findings: readonly Finding[], severity: Severity): number {
  return findings.filter((found) => found.severity === severity).length
}

const inWords = ({ severity, id, where, reason, remedy, source }: Finding): string =>
  [`${severity.padEnd(8)} ${id}`, `at      ${where}`, `why     ${reason}`, `do      ${remedy}`, `source  ${source}`]
    // Reasons can quote text from an untrusted source.
    .map((line) => `${harmlessText(line)}\n`)
    .join('  ')

async function look({ config }: CheckArguments): Promise<readonly Finding[]> {
  try {
    const loaded = await configured(config)
    return examine(await gather(loaded))
  } catch (cause) {
    const where = config ?? findConfiguration(process.cwd()) ?? process.cwd()
    return [finding('configuration-invalid', where, ownSentence(cause))]
  }
}

/** Runs `grantry check`. Returns the text to print, and whether any finding is an error. */
export async function checkCommand(
  given: CheckArguments,
): Promise<{ readonly text: string; readonly failed: boolean }> {
  const findings = await look(given)
  const counts = Object.fromEntries(severities.map((severity) => [severity, countOf(findings, severity)]))
  const failed = countOf(findings, 'error') > 0
  if (given.json === true) return { text: `${JSON.stringify({ findings, counts }, undefined, 2)}\n`, failed }
  const summary = severities.map((severity) => `${counts[severity]} ${severity}`).join(', ')
  const text = findings.map(inWords).join('\n')
  return { text: `${text}${findings.length > 0 ? '\n' : ''}${summary}\n`, failed }
}
