import {
  type AtomicDriver,
  createProvider,
  describeCause,
  type Handler,
  isOAuthError,
  type Observer,
  openEntries,
  type Provider,
  type ProviderOptions,
  type UserService,
} from '@grantry/core'
import type { Adapter } from '../adapter.ts'
import { loadAdminHost } from '../administration/load-admin-host.ts'
import { configuredClients } from '../configuration/configured-clients.ts'
import { consoleAdministration } from '../configuration/console-client.ts'
import { isNamedPlugin } from '../configuration/named-plugins.ts'
import type { CheckedConfiguration } from '../configuration/schema.ts'
import type { ReadUserClaims } from '../configuration/sign-in/organizations.ts'
import { commonFields } from '../observability/adapter-reports.ts'
import type { Observability } from '../observability/observability.ts'
import { withRequestedTenant } from '../observability/requested-tenant.ts'
import type { ServerObserver } from '../observability/server-event.ts'
import { openAccounts } from '../provider-options/open-accounts.ts'
import { providerOptions } from '../provider-options/provider-options.ts'
import type { Serving } from '../reload/provider-slot.ts'
import { isUserDatabase } from '../users/user-databases.ts'
import type { ServerConsole } from './console.ts'
import { beforeRequests } from './end-clients.ts'
import { errorPagePlugin } from './error-page.ts'
import { homePage } from './home-page.ts'
import { endMissingClients } from './missing-clients.ts'
import { endMissingOfTenant, type MissingInTenants } from './missing-in-tenants.ts'
import { outboxPage } from './outbox-page.ts'
import { serverRoutes } from './server-routes.ts'

/** The provider of a configuration, with the routes beside it. */
export interface OpenedProvider extends Serving {
  readonly configuration: CheckedConfiguration
  readonly provider: Provider
  /** The options of the provider. */
  readonly built: ProviderOptions
  readonly console: ServerConsole | undefined
  /** The URL of the page with the mails of a development server. */
  readonly outboxUrl?: string | undefined
}

const isAdmin = (plugin: unknown): boolean => isNamedPlugin(plugin) && plugin.name === 'admin'

/** Whether users can sign in at other providers. */
const hasProviders = (plugin: unknown): boolean =>
  isNamedPlugin(plugin) && plugin.name === 'sign-in' && (plugin.providers?.length ?? 0) > 0

/** Creates the provider with an open database of users, which it closes with the provider. */
async function createOpened(
  options: ProviderOptions,
  { runtime }: Adapter,
  served: UserService | undefined,
): Promise<Provider> {
  const { users } = options
  const database = isUserDatabase(users) ? users : undefined
  try {
    await database?.open()
    const provider = await createProvider({
      ...options,
      ...(served !== undefined && { users: served }),
      runtime,
    })
    if (database === undefined) return provider
    return {
      ...provider,
      get observerFailures() {
        return provider.observerFailures
      },
      async close() {
        await provider.close()
        await database.close()
      },
    }
  } catch (cause) {
    await database?.close()
    throw cause
  }
}

export interface OpenProviderOptions {
  readonly configuration: CheckedConfiguration
  /** The directory of the configuration. */
  readonly directory: string
  /** The driver stays open when the provider is closed. */
  readonly driver: AtomicDriver
  readonly adapter: Adapter
  readonly observability: Observability
  readonly console: ServerConsole | undefined
  readonly isStopping: () => boolean
  /** The listed tenant that the provider is for, and what its server has found. */
  readonly tenant?: { readonly name: string; readonly missing: () => MissingInTenants } | undefined
}

/** While a client that is back could get what another one had, serves only what is the same for all clients. */
function gated(provider: Provider, routes: (request: Request) => Handler, observe: ServerObserver): Handler {
  const { endMissing } = provider.use(beforeRequests)
  const { jwks, discovery, authorizationServerMetadata } = provider.handlers
  const published: ReadonlySet<Handler | undefined> = new Set([jwks, discovery, authorizationServerMetadata])
  return (request, connection) => {
    const handler = provider.route(request)
    if (handler === undefined) return routes(request)(request, connection)
    if (published.has(handler)) return handler(request, connection)
    const ending = endMissing()
    if (ending === undefined) return handler(request, connection)
    return ending.then(
      () => handler(request, connection),
      (thrown: unknown) => {
        const reason = 'clients_not_compared'
        const cause = describeCause(isOAuthError(thrown) ? (thrown.details.cause ?? thrown) : thrown)
        observe({ type: 'unhandled_failure', ...commonFields(), reason, cause })
        return provider.unavailable(request, connection)
      },
    )
  }
}

/** Creates the provider of a configuration, and the routes beside it. */
export async function openProvider({
  configuration,
  directory,
  driver,
  adapter,
  observability,
  console,
  isStopping,
  tenant,
}: OpenProviderOptions): Promise<OpenedProvider> {
  const publish: Observer = (event) => {
    console?.publish(event)
    observability.observe(event)
  }
  // With tenants, `tenant` in events is the name of one, so the tenant that a login requests becomes `requestedTenant`.
  const observe = configuration.tenants === undefined ? publish : withRequestedTenant(publish)
  if (!configuration.administration && configuration.plugins?.some(isAdmin)) {
    throw new TypeError('plugins: admin changes what is in the storage; set "administration": true')
  }
  // The admin API changes the entries of its own provider.
  const admin = await loadAdminHost(configuration)
  const adminHost = admin && (() => admin.openAdminHost({ configuration, directory }, driver, provider, built))
  const accounts = await openAccounts({ configuration, directory })
  const userClaims: ReadUserClaims = async (sub, names) => (await users?.claims?.(sub, names)) ?? {}
  const hosts = { adminHost, accounts: accounts?.host, userClaims }
  const built = await providerOptions({ configuration, directory }, driver, observe, hosts)
  const hasUpstreams = configuration.plugins?.some(hasProviders) === true
  const users: UserService | undefined = hasUpstreams
    ? (await import('../users/upstream-users.ts')).withUpstreamUsers(built.users ?? {}, () => provider)
    : built.users
  const clients = () => configuredClients(configuration)
  const entries = openEntries({ issuer: configuration.issuer, storage: driver })
  const isStored = async (clientId: string): Promise<boolean> =>
    configuration.administration && (await entries.get('client', clientId)) !== undefined
  const sources = { clients, isStored }
  const ending =
    tenant === undefined
      ? endMissingClients(sources, configuration.tenants?.list)
      : endMissingOfTenant(sources, tenant.name, tenant.missing)
  const served: ProviderOptions = { ...built, plugins: [built.plugins, ending, errorPagePlugin] }
  const provider: Provider = observability.provider(await createOpened(served, adapter, users))
  try {
    const pages =
      configuration.console &&
      (await console?.routes(provider, built, configuration.console, consoleAdministration(configuration)))
    const routes = serverRoutes({
      provider,
      observe: observability.observe,
      metrics: observability.page?.(provider.notFound),
      console: pages?.console,
      home: configuration.homePage ? homePage(provider) : undefined,
      demo: pages?.demo,
      outbox: accounts?.outbox && outboxPage(accounts.outbox, provider),
      isStopping,
    })
    return {
      configuration,
      ...(accounts?.host.outboxUrl !== undefined && { outboxUrl: accounts.host.outboxUrl }),
      provider,
      built,
      console,
      handle: gated(provider, routes, observability.observe),
      async close() {
        await provider.close()
        await accounts?.close()
      },
    }
  } catch (cause) {
    await provider.close()
    await accounts?.close()
    throw cause
  }
}
