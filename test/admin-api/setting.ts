import { type AuditRecord, openAdministration, storedEntries, storedScopes } from '@grantry/administration'
import { type AdminHost, admin } from '@grantry/administration/api'
import { type ClientOptions, type EntryStore, openEntries, type ProviderOptions, type UserService } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { read, type TestResponse } from '@grantry/testing'
import { createLiveChecks } from '../../packages/server/src/administration/admin-host.ts'
import { builtInPlugins, clients, fixture, scopes, web } from '../support/fixture.ts'

const auditPage = (entries: Pick<EntryStore, 'list'>) => entries.list('audit', { limit: 1000 })

export const issuer = 'https://id.example.com'

/** Administrates. Its secret is that of `web`. */
const ops = {
  ...(clients.find(({ clientId }) => clientId === web[0]) as ClientOptions),
  clientId: 'ops',
  scopes: ['openid', 'api1', 'admin', 'admin:read'],
}
/** Has the scopes, but is none of the clients that administrate. */
const stranger = { ...ops, clientId: 'stranger' }

export interface Sent {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Default: a token of `ops` with the scope `admin`. */
  readonly token?: string
}

const password = 'correct horse battery'
/** Of no password: hashing takes longer than all other work of these tests. */
const testHash = `$scrypt$ln=15,r=8,p=1$${'a'.repeat(22)}$${'b'.repeat(43)}`

const users: UserService = {
  authenticate: ({ username, password: typed }) => (typed === password ? { sub: username } : undefined),
  isActive: () => true,
}

/** A provider with the admin API, and clients in its storage. */
export async function setting({
  more = {},
  storage = memoryDriver(),
  host = {},
  plugins,
  keys,
  client = {},
}: {
  readonly more?: { readonly requestsPerMinute?: number; readonly requestsPerMinutePerAddress?: number }
  readonly storage?: ProviderOptions['storage']
  readonly host?: Partial<AdminHost>
  readonly plugins?: ProviderOptions['plugins']
  /** Default: a fixed key. */
  readonly keys?: ProviderOptions['keys']
  /** More of the client that administrates. */
  readonly client?: Partial<ClientOptions>
} = {}) {
  const entries = openEntries({ issuer, storage })
  const all = [...clients, { ...ops, ...client }, stranger]
  const loaded = {
    configuration: { clients: all, scopes, users: [] },
    directory: '.',
    file: 'the configuration',
  } as never
  const api = admin({
    clients: ['ops', 'ops-in-storage'],
    administrators: ['alice'],
    ...more,
    host: () => ({
      administration: openAdministration({
        entries,
        check: {
          ...createLiveChecks(
            loaded,
            f.provider,
            storedScopes(entries, () => f.clock.now() * 1000),
          ),
          tenant: async () => {},
        },
        hashPassword: async () => testHash,
        revoke: f.provider.revoke,
        renewClient: f.provider.renewClient,
        now: () => f.clock.now() * 1000,
      }),
      keys: f.provider.keys,
      revoke: f.provider.revoke,
      ...host,
    }),
  })
  const f = await fixture({
    clients: all,
    users,
    storage,
    ...(keys !== undefined && { keys }),
    plugins: [builtInPlugins, storedEntries({ entries, cacheFor: 5 }), api, plugins],
  })

  async function tokenOf(clientId: string, scope: string, username?: string): Promise<string> {
    const form =
      username === undefined
        ? { grant_type: 'client_credentials', scope }
        : { grant_type: 'password', scope, username, password }
    const { status, body } = await f.post('token', form, [clientId, web[1]])
    if (status !== 200) throw new Error(JSON.stringify(body))
    return body.access_token
  }

  let ownToken: Promise<string> | undefined

  /** Sends a request to the API. */
  async function send(
    method: string,
    path: string,
    { body, headers = {}, token: tokenOfRequest }: Sent = {},
  ): Promise<TestResponse> {
    ownToken ??= tokenOf('ops', 'admin')
    const token = tokenOfRequest ?? (await ownToken)
    const init = {
      method,
      headers: {
        ...(token !== '' && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    }
    const request = new Request(`${issuer}/admin/v1${path}`, init)
    return read(await f.provider.fetch(request, { clientAddress: '192.0.2.7' }))
  }

  /** The audit trail, the newest change first. */
  const trail = async () => (await auditPage(entries)).entries.map(({ value }) => value as unknown as AuditRecord)

  return { ...f, entries, send, tokenOf, trail }
}

export const batch = { clientId: 'batch', grantTypes: ['client_credentials'], scopes: ['api1'] }
