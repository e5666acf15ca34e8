import { existsSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { hashSecret, issuerSchema, parseConfiguration } from '@grantry/core'
import { commandLine, shellWord } from '../command-line.ts'
import { environmentFileName } from '../configuration/environment-file.ts'
import { configurationTemplate } from '../init/template.ts'
import { writeFiles } from '../init/write-files.ts'
import { newSecret } from '../secret.ts'

export interface InitArguments {
  readonly issuer?: string
}

const environment = (secret: string): string => `\
# Secrets of this Grantry server; grantry reads this file beside its configuration. Keep a copy where you keep passwords.
# GRANTRY_KEY_SECRET encrypts the signing keys in the storage. If it is lost they cannot be read: see docs/guides/doctor.md.
GRANTRY_KEY_SECRET=${secret}
`

const ignored = `\
# The secrets and the tokens of this Grantry server. The configuration beside them has only hashes.
/${environmentFileName}
/data/
`

/**
 * `grantry init`: a configuration with secrets of its own. What it prints is the only place where they can be read.
 *
 * @throws TypeError with one sentence when the issuer is none, or the files cannot be written.
 */
export function initCommand(given: string, { issuer = 'http://127.0.0.1:8484' }: InitArguments): string {
  parseConfiguration(issuerSchema, issuer, '--issuer')
  const directory = resolve(given)
  const hasGitignore = existsSync(join(directory, '.gitignore'))
  const [clientSecret, apiSecret] = [newSecret(), newSecret()]
  writeFiles(directory, {
    'grantry.config.json': configurationTemplate({
      issuer,
      clientHash: hashSecret(clientSecret).sha256,
      apiHash: hashSecret(apiSecret).sha256,
    }),
    [environmentFileName]: environment(newSecret()),
    // An existing one may be shared with other files: it stays as it is, and the text below says what to add.
    ...(!hasGitignore && { '.gitignore': ignored }),
  })
  const here = relative(process.cwd(), directory)
  // A way that begins by going up is easier to read as a whole path.
  const file = join(here.startsWith('..') ? directory : here, 'grantry.config.json')
  const named = here === '' ? '' : ` --config ${shellWord(file)}`
  const gitignore = hasGitignore
    ? `\nAdd these lines to ${join(directory, '.gitignore')}, which is there already:\n  /${environmentFileName}\n  /data/\n`
    : `  ${join(directory, '.gitignore')}   (keeps secrets and tokens out of version control)\n`
  return `\
Written, for this user only:
  ${join(directory, 'grantry.config.json')}
  ${join(directory, environmentFileName)}   (keep a copy in a safe place)
${gitignore}
Shown once; the configuration has only their hashes:
  client service, secret  ${clientSecret}
  API api1, secret        ${apiSecret}

Next:
  ${commandLine()} check${named}
  ${commandLine()} serve${named}

Then in another terminal, a token and what an API learns of it:
  TOKEN=$(curl -s ${issuer}/connect/token -u service:${clientSecret} -d grant_type=client_credentials -d scope=api1 | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
  curl -s ${issuer}/connect/introspect -u api1:${apiSecret} -d token=$TOKEN
`
}
