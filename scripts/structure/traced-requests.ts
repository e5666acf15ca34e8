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

/** What a request ran: the file of each function that it called, in order, and its calls of the storage. */
export interface TracedRequest {
  readonly request: string
  readonly files: readonly number[]
  readonly storageCalls: number
}

const issuer = 'https://id.example.com'
const redirectUri = 'https://client.example.com/callback'
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const as: readonly [string, string] = ['web', 'web-secret']
const web: ClientOptions = {
  clientId: 'web',
  secrets: [{ sha256: sha256Of('web-secret') }],
  grantTypes: ['authorization_code', 'refresh_token', 'client_credentials'],
  scopes: ['openid', 'offline_access', 'api1'],
  redirectUris: [redirectUri],
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
    clients: [web, ops],
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

const hiddenIn = (html: string): Record<string, string> =>
  Object.fromEntries(
    [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/gu)].map(([, name, value]) => [name, value]),
  )

/** A browser of a user: it keeps cookies, and follows redirects within the provider. */
function openBrowser(provider: Provider) {
  const cookies = new Map<string, string>()
  return async function open(url: string, form?: Record<string, string>): Promise<string> {
    const headers = { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') }
    const sent = form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }
    const response = await provider.fetch(new Request(url, { headers, ...sent }), { clientAddress: '192.0.2.1' })
    for (const line of response.headers.getSetCookie()) {
      const [, cookie = '', value = ''] = /^([^=]+)=([^;]*)/u.exec(line) ?? []
      cookies.set(cookie, value)
    }
    const location = response.headers.get('location')
    if (location === null) return response.text()
    return location.startsWith(`${issuer}/`) ? open(location) : location
  }
}

/** Sends the requests of the table, each a second time: the first one reads what the provider then remembers. */
export async function traceRequests(): Promise<readonly TracedRequest[]> {
  let storageCalls = 0
  const { provider, post } = await setUp(() => {
    storageCalls += 1
  })
  const traced: TracedRequest[] = []

  async function trace<T>(request: string, send: () => Promise<T>): Promise<T> {
    const calls: number[] = []
    const before = storageCalls
    Object.assign(globalThis, { functionCalls: calls })
    const result = await send()
    Object.assign(globalThis, { functionCalls: undefined })
    traced.push({ request, files: calls, storageCalls: storageCalls - before })
    return result
  }
  async function token(form: Record<string, string>, client = as) {
    const { status, body } = await post('token', form, client)
    if (status !== 200) throw new Error(`The token endpoint answered ${status}: ${JSON.stringify(body)}`)
    return body
  }

  const clientGrant = { grant_type: 'client_credentials', scope: 'api1' }
  await token(clientGrant)
  const { access_token: access } = await trace('client credentials', () => token(clientGrant))
  const api = ['api1', 'api1-secret'] as const
  await post('introspection', { token: access }, api)
  await trace('introspection', () => post('introspection', { token: access }, api))

  const open = openBrowser(provider)
  const query = new URLSearchParams({
    client_id: 'web',
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid offline_access api1',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  })
  const page = await open(`${issuer}/connect/authorize?${query}`)
  const password = { ...hiddenIn(page), username: 'alice', password: 'alice-password' }
  const consent = await open(`${issuer}/connect/signin`, password)
  await open(`${issuer}/connect/consent`, { ...hiddenIn(consent), decision: 'allow' })
  query.set('prompt', 'none')
  const ask = async (): Promise<string> => {
    const code = new URL(await open(`${issuer}/connect/authorize?${query}`)).searchParams.get('code')
    if (code === null) throw new Error('The session gave no code')
    return code
  }
  const redeem = (code: string) =>
    token({ grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier })
  await redeem(await ask())
  const code = await trace('session to code', ask)
  const { refresh_token: first } = await trace('code redemption', () => redeem(code))
  const { refresh_token: second } = await token({ grant_type: 'refresh_token', refresh_token: first })
  await trace('refresh', () => token({ grant_type: 'refresh_token', refresh_token: second }))
  for (let index = 0; index < earlierCodes; index += 1) await ask()
  await trace(`session to code, after ${earlierCodes} others`, ask)

  const { access_token: admins } = await token({ grant_type: 'client_credentials', scope: 'admin' }, [
    'ops',
    'ops-secret',
  ])
  const headers = { authorization: `Bearer ${admins}`, 'content-type': 'application/json' }
  const call = async (method: string, path: string, body: unknown, more = {}) => {
    const sent = { method, headers: { ...headers, ...more }, body: JSON.stringify(body) }
    const response = await provider.fetch(new Request(`${issuer}/admin/v1${path}`, sent), {
      clientAddress: '192.0.2.1',
    })
    if (!response.ok) throw new Error(`The administration answered ${response.status}: ${await response.text()}`)
    return response
  }
  const added = await call('POST', '/clients', { clientId: 'batch', grantTypes: ['client_credentials'] })
  const change = (tag: string | null, name: string) =>
    call(
      'PATCH',
      '/clients/batch',
      { clientName: name },
      { 'if-match': tag ?? '', 'content-type': 'application/merge-patch+json' },
    )
  const changed = await change(added.headers.get('etag'), 'Batch')
  await trace('administration: change a client', () => change(changed.headers.get('etag'), 'Nightly batch'))
  return traced
}
