import { openAdministration } from '@grantry/administration'
import { admin } from '@grantry/administration/api'
import { type AtomicDriver, type ClientOptions, openEntries, type Provider } from '@grantry/core'
import { createPages } from '@grantry/pages'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { proofKey } from '@grantry/plugins/proof-key'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { signIn } from '@grantry/plugins/sign-in'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { createTestProvider, sha256Of } from '@grantry/testing'
import { authorizationUrl, openBrowser, redemptionOf, signInWith, web } from './page-browser.ts'

/** What a request ran: the index of each function that it called, in order, and its calls of the storage. */
export interface TracedRequest {
  readonly request: string
  readonly calls: readonly number[]
  readonly storageCalls: number
}

const issuer = 'https://id.example.com'
const as: readonly [string, string] = ['web', 'web-secret']
const client: ClientOptions = {
  ...web,
  secrets: [{ sha256: sha256Of('web-secret') }],
  grantTypes: ['authorization_code', 'refresh_token', 'client_credentials'],
  scopes: ['openid', 'offline_access', 'api1'],
}
const ops: ClientOptions = {
  clientId: 'ops',
  secrets: [{ sha256: sha256Of('ops-secret') }],
  grantTypes: ['client_credentials'],
  scopes: ['admin'],
}
const apis = [{ name: 'api1', secrets: [{ sha256: sha256Of('api1-secret') }] }]
const earlierCodes = 150

/** Counts the calls of the driver's functions. */
function counted(driver: AtomicDriver, count: () => void): AtomicDriver {
  return new Proxy(driver, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver)
      if (typeof member !== 'function') return member
      return (...values: readonly unknown[]) => {
        count()
        return member.apply(target, values)
      }
    },
  })
}

async function setUp(count: () => void) {
  const storage = counted(memoryDriver(), count)
  const host = () => ({
    administration: openAdministration({
      entries: openEntries({ issuer, storage }),
      check: {
        client: async (client) => provider.checkClient(client),
        scope: async (scope) => provider.checkScope(scope),
        user: async () => {},
      },
      hashPassword: async () => {
        throw new Error('the users of this program have no stored passwords')
      },
      revoke: provider.revoke,
    }),
    keys: provider.keys,
    revoke: provider.revoke,
  })
  const test = await createTestProvider({
    issuer,
    storage,
    clients: [client, ops],
    scopes: apis,
    plugins: [
      clientCredentials(),
      authorizationCode(),
      refreshToken(),
      proofKey(),
      authorizationEndpoint({ interaction: signIn({ pages: createPages() }) }),
      admin({ clients: ['ops'], host }),
    ],
    users: { authenticate: ({ username }) => ({ sub: username }) },
  })
  const provider: Provider = test.provider
  return test
}

type Test = Awaited<ReturnType<typeof setUp>>
type Trace = <T>(request: string, send: () => Promise<T>) => Promise<T>

/** @throws Error when the token endpoint refuses */
async function token({ post }: Test, form: Record<string, string>, client = as) {
  const { status, body } = await post('token', form, client)
  if (status !== 200) throw new Error(`The token endpoint answered ${status}: ${body.error}`)
  return body
}

async function traceClient(test: Test, trace: Trace): Promise<void> {
  const form = { grant_type: 'client_credentials', scope: 'api1' }
  await token(test, form)
  const { access_token: access } = await trace('client credentials', () => token(test, form))
  const api = ['api1', 'api1-secret'] as const
  await test.post('introspection', { token: access }, api)
  await trace('introspection', () => test.post('introspection', { token: access }, api))
}

async function traceUser(test: Test, trace: Trace): Promise<void> {
  const open = openBrowser(test.provider)
  const scope = 'openid offline_access api1'
  await signInWith(open, issuer, scope)
  const silent = authorizationUrl(issuer, scope, { prompt: 'none' })
  const ask = async (): Promise<string> => {
    const code = new URL(await open(silent)).searchParams.get('code')
    if (code === null) throw new Error('The session gave no code')
    return code
  }
  const refresh = (text: string) => token(test, { grant_type: 'refresh_token', refresh_token: text })
  await token(test, redemptionOf(await ask()))
  const code = await trace('session to code', ask)
  const { refresh_token: first } = await trace('code redemption', () => token(test, redemptionOf(code)))
  const { refresh_token: second } = await refresh(first)
  await trace('refresh', () => refresh(second))
  for (let index = 0; index < earlierCodes; index += 1) await ask()
  await trace(`session to code, after ${earlierCodes} others`, ask)
}

async function traceAdministrator(test: Test, trace: Trace): Promise<void> {
  const form = { grant_type: 'client_credentials', scope: 'admin' }
  const { access_token: access } = await token(test, form, ['ops', 'ops-secret'])
  async function call(method: string, path: string, body: unknown, headers: Record<string, string>) {
    const sent = { method, headers: { authorization: `Bearer ${access}`, ...headers }, body: JSON.stringify(body) }
    const request = new Request(`${issuer}/admin/v1${path}`, sent)
    const response = await test.provider.fetch(request, { clientAddress: '192.0.2.1' })
    if (!response.ok) throw new Error(`The administration answered ${response.status}`)
    return response.headers.get('etag') ?? ''
  }
  const change = (tag: string, clientName: string) =>
    call('PATCH', '/clients/batch', { clientName }, { 'if-match': tag, 'content-type': 'application/merge-patch+json' })
  const batch = { clientId: 'batch', grantTypes: ['client_credentials'] }
  const added = await call('POST', '/clients', batch, { 'content-type': 'application/json' })
  const changed = await change(added, 'Batch')
  await trace('administration: change a client', () => change(changed, 'Nightly batch'))
}

/** Sends the requests of the table, each a second time: the first one reads what the provider then remembers. */
export async function traceRequests(): Promise<readonly TracedRequest[]> {
  let storageCalls = 0
  const test = await setUp(() => {
    storageCalls += 1
  })
  const traced: TracedRequest[] = []
  async function trace<T>(request: string, send: () => Promise<T>): Promise<T> {
    const calls: number[] = []
    const before = storageCalls
    Object.assign(globalThis, { functionCalls: calls })
    const result = await send()
    Object.assign(globalThis, { functionCalls: undefined })
    traced.push({ request, calls, storageCalls: storageCalls - before })
    return result
  }
  await traceClient(test, trace)
  await traceUser(test, trace)
  await traceAdministrator(test, trace)
  return traced
}
