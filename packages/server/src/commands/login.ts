import { type ClientOptions, isLoopbackRedirect, isRegisteredRedirectUri } from '@grantry/core'
import { type Command, InvalidArgumentError } from 'commander'
import type { LoadedConfiguration } from '../configuration/load.ts'
import type { LoginResult } from '../login-test/log-in.ts'
import { openBrowser } from '../login-test/open-browser.ts'
import { loginProblem } from '../login-test/problem.ts'
import { configOption } from '../opening/command-options.ts'
import { withAdministration } from '../opening/open-administration.ts'
import { requireConfiguration } from '../opening/open-configuration.ts'
import { jsonText } from '../sanitize-text.ts'
import { table } from './output.ts'
import { readSecretly } from './read-secretly.ts'

interface LoginArguments {
  readonly client: string
  readonly scope?: readonly string[]
  readonly redirectUri?: string
  readonly browser: boolean
  readonly wait: number
  readonly tokens?: true
  readonly json?: true
  readonly config?: string
}

const isList = (clients: LoadedConfiguration['configuration']['clients']): clients is readonly ClientOptions[] =>
  Array.isArray(clients)

/** Returns the client, from the configuration or the storage. */
async function clientOf(loaded: LoadedConfiguration, clientId: string): Promise<ClientOptions> {
  const { clients, administration } = loaded.configuration
  const client = isList(clients)
    ? clients.find((configured) => configured.clientId === clientId)
    : await clients.find(clientId)
  if (client !== undefined) return client
  if (administration) return (await withAdministration(loaded, ({ clients: stored }) => stored.show(clientId))).value
  throw new TypeError(`no client ${clientId} is configured; check the spelling`)
}

/** @throws TypeError if the server would refuse the request on a page, so that the command would wait in vain. */
function assertCanLogIn({ clientId, enabled = true, grantTypes = [] }: ClientOptions): void {
  if (!enabled) throw new TypeError(`the client ${clientId} is disabled; enable it first`)
  if (grantTypes.includes('authorization_code')) return
  throw new TypeError(`the client ${clientId} signs no users in; add authorization_code to its grantTypes`)
}

/** Returns the redirect URI to which the browser of this machine returns. */
function redirectUriOf({ clientId, redirectUris = [] }: ClientOptions, requested: string | undefined): string {
  if (requested !== undefined) {
    if (isLoopbackRedirect(requested) && isRegisteredRedirectUri(requested, redirectUris)) return requested
    throw new TypeError(`--redirect-uri: ${requested} is not a redirect URI of the client ${clientId} on this machine`)
  }
  const registered = redirectUris.find(isLoopbackRedirect)
  if (registered !== undefined) return registered
  throw new TypeError(
    `the client ${clientId} has no redirect URI on this machine; add http://127.0.0.1/callback to its redirectUris, for any port`,
  )
}

const secretOf = async ({ clientId, public: isPublic }: ClientOptions): Promise<string | undefined> =>
  isPublic === true ? undefined : readSecretly(`Secret of the client ${clientId}: `)

function print({ identity = {}, userinfo = {}, scope, expiresIn, tokens }: LoginResult, showsTokens: boolean): void {
  const rows = Object.entries({ ...userinfo, ...identity }).map(([claim, value]) => [
    claim,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  const granted = [
    ['scope', scope ?? '-'],
    ['expires in', expiresIn === undefined ? '-' : `${expiresIn} s`],
    ['tokens', Object.keys(tokens).join(' ')],
    ...(showsTokens ? Object.entries(tokens) : []),
  ]
  process.stdout.write(`The login works.\n\n${table([...granted, ...rows])}`)
}

async function test(options: LoginArguments): Promise<void> {
  const loaded = await requireConfiguration(options.config)
  const client = await clientOf(loaded, options.client)
  assertCanLogIn(client)
  const redirectUri = redirectUriOf(client, options.redirectUri)
  const { issuer } = loaded.configuration
  const { logIn } = await import('../login-test/log-in.ts')
  const result = await logIn({
    issuer,
    clientId: options.client,
    secret: await secretOf(client),
    redirectUri,
    scope: (options.scope ?? client.scopes ?? ['openid']).join(' '),
    wait: options.wait,
    opened(url) {
      process.stderr.write(`Sign in with the browser:\n  ${url}\n`)
      if (options.browser) openBrowser(url)
    },
  }).catch((cause: unknown) => {
    throw new TypeError(loginProblem(cause, issuer), { cause })
  })
  if (!options.json) return print(result, options.tokens === true)
  const { tokens, ...claims } = result
  process.stdout.write(`${jsonText(options.tokens ? { ...claims, tokens } : claims)}\n`)
}

function seconds(text: string): number {
  if (!/^[1-9]\d{0,3}$/u.test(text)) throw new InvalidArgumentError('It must be 1 to 9999 seconds.')
  return Number(text)
}

/** Adds `grantry login test`. */
export function addLoginCommand(grantry: Command): void {
  grantry
    .command('login')
    .description('try how users sign in')
    .command('test')
    .description('sign in as a client does: an authorization code flow in the browser of this machine')
    .requiredOption('--client <id>', 'the client; its secret is read from a prompt, or from standard input')
    .option('--scope <names...>', 'scopes to ask for (default: those of the client)')
    .option('--redirect-uri <uri>', 'one of its redirect URIs on this machine (default: the first one)')
    .option('--wait <seconds>', 'how long to wait for the user', seconds, 300)
    .option('--no-browser', 'only print the URL')
    .option('--tokens', 'print the tokens, too')
    .option('--json', 'print JSON')
    .option(...configOption)
    .action(test)
}
