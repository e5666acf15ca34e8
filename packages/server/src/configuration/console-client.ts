import {
  type ClientOptions,
  collectParts,
  defineClientSource,
  definePlugin,
  directorySchemasOf,
  type Plugin,
  type Plugins,
  parseConfiguration,
} from '@grantry/core'
import { errorMessage } from '../error-message.ts'
import { isNamedPlugin, type NamedPlugin } from './named-plugins.ts'
import type { CheckedConfiguration } from './schema.ts'

type Named = Pick<CheckedConfiguration, 'issuer' | 'console' | 'plugins' | 'clients'>

/** The id of the client that the server provides for the console. */
export const consoleClientId = 'grantry-console'

/** The settings of the console as a page of administrators. */
export interface ConsoleAdministration {
  readonly clientId: string
  readonly redirectUri: string
  readonly scope: string
  /** Whether the server accepts pushed authorization requests only. */
  readonly mustPush: boolean
}

const isNamed = (name: NamedPlugin['name']) => (entry: unknown) => isNamedPlugin(entry) && entry.name === name

const mustPush = (entry: NamedPlugin): boolean => entry.name === 'sign-in' && entry.pushedRequests?.required === true

/** Whether users can set up a second factor on the account page. */
const hasFactors = (entry: NamedPlugin): boolean =>
  entry.name === 'sign-in' && entry.account !== undefined && entry.secondFactors !== undefined

/**
 * Returns the settings of the console for administrators; `undefined` without the plugins `sign-in` and `admin`, which
 * it needs.
 */
export function consoleAdministration({
  issuer,
  console,
  plugins = [],
}: Pick<Named, 'issuer' | 'console' | 'plugins'>): ConsoleAdministration | undefined {
  if (console === undefined || !plugins.some(isNamed('sign-in')) || !plugins.some(isNamed('admin'))) return undefined
  if (!URL.canParse(issuer)) return undefined
  // The server has the console at the root of the origin, whatever the path of the issuer.
  return {
    clientId: consoleClientId,
    redirectUri: new URL('/console/', issuer).href,
    scope: 'openid admin',
    mustPush: plugins.some((entry) => isNamedPlugin(entry) && mustPush(entry)),
  }
}

/** Returns the entries of the configuration. The entry of the admin API accepts the console, too. */
export function withConsoleClient(configuration: Pick<Named, 'issuer' | 'console' | 'plugins'>) {
  const { plugins = [] } = configuration
  if (consoleAdministration(configuration) === undefined) return plugins
  return plugins.map((entry) =>
    isNamedPlugin(entry) && entry.name === 'admin'
      ? { ...entry, clients: [...(entry.clients ?? []), consoleClientId] }
      : entry,
  )
}

function clientOf({ clientId, redirectUri, scope }: ConsoleAdministration, isFactorRequired: boolean): ClientOptions {
  return {
    clientId,
    clientName: 'Grantry console',
    public: true,
    grantTypes: ['authorization_code'],
    scopes: scope.split(' '),
    redirectUris: [redirectUri],
    postLogoutRedirectUris: [redirectUri],
    // The console belongs to this server: no other party gets the tokens.
    requireConsent: false,
    dpopBoundAccessTokens: true,
    accessTokenLifetime: 1800,
    // A member of the account page, which does not exist without that page.
    ...(isFactorRequired && { requireSecondFactor: true }),
  } as ClientOptions
}

/** A browser cannot keep a secret, so a plugin that accepts confidential clients only leaves no sign-in for the console. */
function assertAccepted(client: ClientOptions, plugins: Plugins): void {
  // Two plugins that define the same member are not the fault of this client: the error names them.
  const { clientSchema } = directorySchemasOf(plugins)
  try {
    parseConfiguration(clientSchema, client, 'client')
  } catch (cause) {
    const hint =
      'set console to false, or let the plugin demand it of your own clients only, as fapi2 does with "clients": "marked"'
    throw new TypeError(`console: its client cannot sign in: ${errorMessage(cause)}; ${hint}`, { cause })
  }
}

/**
 * Returns what the console needs as an administration: its client, and DPoP, unless the operator has configured it.
 *
 * @param loaded the plugins of the configuration
 * @throws TypeError when the configuration has a client with the id of the console.
 */
export async function consolePlugins(configuration: Named, loaded: Plugins): Promise<readonly Plugin[]> {
  const administration = consoleAdministration(configuration)
  if (administration === undefined) return []
  const { clients, console, plugins = [] } = configuration
  if (Array.isArray(clients) && clients.some(({ clientId }) => clientId === consoleClientId)) {
    throw new TypeError(`clients: ${consoleClientId} is the client of the console; give this client another clientId`)
  }
  // Required by default where it is possible, because an administrator can give access to every account.
  const isPossible = plugins.some((entry) => isNamedPlugin(entry) && hasFactors(entry))
  const client = clientOf(administration, console?.requireSecondFactor ?? isPossible)
  const source = defineClientSource({ find: (clientId) => (clientId === consoleClientId ? client : undefined) })
  const hasDpop = collectParts(loaded).some(({ plugin }) => plugin === 'dpop')
  const added = hasDpop ? [] : [(await import('@grantry/plugins/dpop')).dpop()]
  assertAccepted(client, [loaded, added])
  return [definePlugin('console', [source]), ...added]
}
