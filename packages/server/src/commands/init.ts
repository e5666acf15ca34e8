import { existsSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { hashSecret, issuerSchema, parseConfiguration } from '@grantry/core'
import { environmentFileName } from '../configuration/environment-file.ts'
import { newSignIn, signInSteps } from '../init/new-sign-in.ts'
import { configurationTemplate } from '../init/template.ts'
import { writeFiles } from '../init/write-files.ts'
import { newSecret } from '../new-secret.ts'

export interface InitArguments {
  readonly issuer?: string
  /** The name of the first user; `true` asks for it. */
  readonly signIn?: string | true
}

const environment = (secret: string): string => `\
# Secrets of this Grantry server. grantry reads this file from the directory of its configuration. Keep a copy in your password manager.
# GRANTRY_KEY_SECRET encrypts the signing keys in the storage. Without it they cannot be read: see docs/guides/doctor.md.
GRANTRY_KEY_SECRET=${secret}
`

const ignored = `\
# Secrets and tokens of this Grantry server. The configuration contains only hashes and can be committed.
/${environmentFileName}
/data/
`

/** Quotes a text so that a POSIX shell reads it as one word. */
const shellWord = (text: string): string =>
  /^[\w./:@%+=,-]+$/u.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

/**
 * Returns what the user typed before the name of the command, such as `grantry`, or `npm start --` in a clone, so that
 * printed commands can be pasted.
 */
function commandLine(): string {
  const [runtime = 'node', program = ''] = process.argv
  const { npm_lifecycle_event: script = '', npm_command: npm } = process.env
  if (basename(program) === 'start.js' && script === 'start') return 'npm start --'
  if (basename(program) === 'start.js' && script.startsWith('start:')) return `npm run ${script} --`
  if (!/\.m?js$/u.test(program)) return npm === 'exec' ? 'npx grantry' : 'grantry'
  const here = relative(process.cwd(), program)
  const run = basename(runtime).startsWith('deno') ? 'deno run -A' : basename(runtime)
  return `${run} ${shellWord(here.startsWith('..') ? program : here)}`
}

/**
 * Runs `grantry init`: writes a configuration with new secrets. Only the returned text contains the secrets.
 *
 * @throws TypeError with a one-line message if the issuer is invalid or the files cannot be written.
 */
export async function initCommand(
  target: string,
  { issuer = 'http://127.0.0.1:8484', signIn: name }: InitArguments,
): Promise<string> {
  parseConfiguration(issuerSchema, issuer, '--issuer')
  const signIn = name === undefined ? undefined : await newSignIn(name, issuer)
  const directory = resolve(target)
  const hasGitignore = existsSync(join(directory, '.gitignore'))
  const [clientSecret, apiSecret] = [newSecret(), newSecret()]
  const { isSqliteAvailable } = await import('@grantry/storage-drivers/sqlite')
  writeFiles(directory, {
    'grantry.config.json': configurationTemplate({
      issuer,
      clientHash: hashSecret(clientSecret).sha256,
      apiHash: hashSecret(apiSecret).sha256,
      signIn,
      hasSqlite: isSqliteAvailable(),
    }),
    [environmentFileName]: environment(newSecret()),
    // An existing .gitignore is not changed; the output names the lines to add.
    ...(!hasGitignore && { '.gitignore': ignored }),
  })
  const here = relative(process.cwd(), directory)
  // An absolute path is easier to read than one that starts with `..`.
  const file = join(here.startsWith('..') ? directory : here, 'grantry.config.json')
  const named = here === '' ? '' : ` --config ${shellWord(file)}`
  const gitignore = hasGitignore
    ? `\nAdd these lines to the existing ${join(directory, '.gitignore')}:\n  /${environmentFileName}\n  /data/\n`
    : `  ${join(directory, '.gitignore')}   (keeps secrets and tokens out of version control)\n`
  return `\
Created, readable by this user only:
  ${join(directory, 'grantry.config.json')}
  ${join(directory, environmentFileName)}   (keep a copy in a safe place)
${gitignore}
These secrets are shown once. The configuration contains only their hashes:
  client service, secret  ${clientSecret}
  API api1, secret        ${apiSecret}
${signIn === undefined ? '' : `  client web, secret      ${signIn.clientSecret}\n  user ${signIn.username}, password ${signIn.password}\n`}
Next:
  ${commandLine()} check${named}
  ${commandLine()} serve${named}

Then, in another terminal, get a token and introspect it as the API:
  TOKEN=$(curl -s ${issuer}/connect/token -u service:${clientSecret} -d grant_type=client_credentials -d scope=api1 | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
  curl -s ${issuer}/connect/introspect -u api1:${apiSecret} -d token=$TOKEN
${signIn === undefined ? '' : signInSteps(issuer, signIn, `${commandLine()} login test --client web${named}`)}`
}
