import { type AtomicDriver, type ClientOptions, type Plugins, type ProviderEvent, signingKeys } from '@grantry/core'
import {
  createTenants,
  type TenantEvent,
  type TenantOf,
  type TenantProviderOptions,
  type Tenants,
  tenantsByPath,
} from '@grantry/core/tenants'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { sha256Of } from '@grantry/testing'
import { builtInPlugins, testUsers } from '../support/fixture.ts'

export const base = 'https://id.example.com'

export const client: ClientOptions = {
  clientId: 'web',
  secrets: [{ sha256: sha256Of('secret') }],
  grantTypes: ['client_credentials', 'password', 'refresh_token'],
  scopes: ['api1', 'openid', 'offline_access'],
  accessTokenFormat: 'reference',
}

/** The tenants that exist, by key, with their versions. A test changes them while it runs. */
export type Directory = Map<
  string,
  { version: string; space?: string | undefined; options?: Partial<TenantProviderOptions> | undefined }
>

export interface TenantsFixture extends Tenants {
  readonly directory: Directory
  readonly events: ProviderEvent[]
  readonly tenantEvents: TenantEvent[]
  /** Keys for which the host was asked. */
  readonly asked: string[]
  clock: { ms: number }
  token(url: string, form: Record<string, string>, headers?: Record<string, string>): Promise<Response>
}

export const basic = (id = 'web', secret = 'secret'): string => `Basic ${btoa(`${id}:${secret}`)}`

export interface FixtureOptions {
  readonly tenants?: readonly string[] | undefined
  readonly storage?: AtomicDriver | undefined
  readonly tenantOf?: TenantOf | undefined
  readonly issuerOf?: ((key: string) => string) | undefined
  readonly directory?: Directory | undefined
  readonly maxOpen?: number | undefined
  readonly options?: Partial<TenantProviderOptions> | undefined
  readonly pluginsOf?: ((key: string) => Plugins) | undefined
}

/** Two tenants by path, with the same clients and users. */
export function tenantsFixture(options: FixtureOptions = {}): TenantsFixture {
  const { tenants: names = ['acme', 'beta'], storage = memoryDriver(), tenantOf = tenantsByPath() } = options
  const { issuerOf = (key: string) => `${base}/t/${key}` } = options
  const directory: Directory = options.directory ?? new Map(names.map((name) => [name, { version: '1' }]))
  const events: ProviderEvent[] = []
  const tenantEvents: TenantEvent[] = []
  const asked: string[] = []
  const clock = { ms: 0 }
  const tenants = createTenants({
    storage,
    tenantOf,
    ...(options.maxOpen !== undefined && { maxOpen: options.maxOpen }),
    runtime: { elapsed: () => clock.ms },
    observeTenants: (event) => void tenantEvents.push(event),
    find(key) {
      asked.push(key)
      const tenant = directory.get(key)
      if (tenant === undefined) return undefined
      const open = (): TenantProviderOptions => ({
        issuer: issuerOf(key),
        keys: signingKeys(),
        clients: [client],
        scopes: [{ name: 'api1', secrets: [{ sha256: sha256Of('api1-secret') }] }],
        users: testUsers().service,
        plugins: options.pluginsOf?.(key) ?? builtInPlugins,
        observe: (event) => void events.push(event),
        ...options.options,
        ...tenant.options,
      })
      return { name: key, version: tenant.version, space: tenant.space, open }
    },
  })
  return Object.assign(Object.create(tenants) as Tenants, {
    directory,
    events,
    tenantEvents,
    asked,
    clock,
    token: (url: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
      tenants.fetch(
        new Request(url, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: basic(), ...headers },
          body: new URLSearchParams(form),
        }),
      ),
  })
}
