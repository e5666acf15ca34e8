import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileErrorReason } from '../error-message.ts'

/** Next to the configuration. systemd (`EnvironmentFile`) and Docker (`--env-file`) can read it, too. */
export const environmentFileName = 'grantry.env'

const line = /^(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*)$/u

/**
 * Returns the variables in `grantry.env` of this directory, or none if the file does not exist.
 *
 * @throws TypeError that names the file and the line, but does not quote the content.
 */
export function readEnvironmentFile(directory: string): Readonly<Record<string, string>> {
  const file = join(directory, environmentFileName)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    if ((cause as { readonly code?: string }).code === 'ENOENT') return {}
    throw new TypeError(`cannot read ${file} (${fileErrorReason(cause)}); grant this user read access`, {
      cause,
    })
  }
  const variables: Record<string, string> = {}
  for (const [index, written] of text.split(/\r?\n/u).entries()) {
    const trimmed = written.trim()
    if (trimmed === '' || trimmed.startsWith('#')) continue
    const [, name, value = ''] = line.exec(trimmed) ?? []
    if (name === undefined) throw new TypeError(`${file}: line ${index + 1} is not NAME=value`)
    variables[name] = value.replace(/^(["'])(.*)\1$/u, '$2')
  }
  return variables
}
