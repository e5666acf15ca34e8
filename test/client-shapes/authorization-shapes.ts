import type { ClientOptions } from '@grantry/core'
import { answer } from '../authorization/browser.ts'
import { clients, hostSignIn, request, setUp } from '../authorization/parties.ts'
import type { Shape } from './shape.ts'

const native = (clientId: string, redirectUris: string[], more: Partial<ClientOptions> = {}): ClientOptions => ({
  clientId,
  public: true,
  grantTypes: ['authorization_code'],
  scopes: ['openid', 'api1'],
  redirectUris,
  ...more,
})

const natives = [
  native('claude-code', ['http://localhost/callback']),
  native('cursor', ['https://www.cursor.example.com/callback', 'cursor://anysphere.cursor-mcp/oauth/callback']),
  native('nextcloud', ['oc://android.example.com']),
  native('one', ['https://one.example.com/callback']),
]

/** PKCE, which public clients need. */
const challenged = { code_challenge: 'a'.repeat(43), code_challenge_method: 'S256' }

/** Opens the authorization endpoint in a new browser. Returns what the client gets. */
async function authorize(parameters: Readonly<Record<string, string | undefined>>, init: RequestInit = {}) {
  const f = await setUp(hostSignIn, {}, { clients: [...clients, ...natives] })
  const sent = Object.entries({ ...request, ...parameters }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  const { provider, redeem } = f
  const response = await provider.fetch(new Request(f.urlOf(Object.fromEntries(sent)), init))
  const location = response.headers.get('location')
  const page = { status: response.status, headers: response.headers, html: '', url: new URL(location ?? 'about:blank') }
  return { ...f, response, page, code: answer(page).code, redeem }
}

const getsCode = async (parameters: Readonly<Record<string, string | undefined>>, init?: RequestInit) =>
  (await authorize(parameters, init)).code !== undefined

export const authorizationShapes: readonly Shape[] = [
  {
    client: 'a browser behind an AWS gateway, which joins cookies without a space',
    gets: 'a code',
    run: () => getsCode({}, { headers: { cookie: 'first=1;second=2;third="3"' } }),
    expected: true,
  },
  {
    client: 'Argo CD, which asks for the scope groups',
    gets: 'a code for the scopes that exist',
    run: async () => {
      const { redeem, code } = await authorize({ scope: 'openid groups api1' })
      return (await redeem(code)).body.scope
    },
    expected: 'openid api1',
  },
  {
    client: 'a client that asks for offline_access although it may not have it',
    gets: 'a code without a refresh token',
    run: async () => {
      const parameters = { client_id: 'claude-code', redirect_uri: 'http://localhost:4711/callback' }
      return getsCode({ ...parameters, ...challenged, scope: 'openid offline_access' })
    },
    expected: true,
  },
  {
    client: 'a client with the largest max_age of 32 bits',
    gets: 'a code',
    run: () => getsCode({ max_age: '2147483647' }),
    expected: true,
  },
  {
    client: 'a client with one redirect URI, which omits it and does not use OpenID Connect',
    gets: 'a code at that URI',
    run: async () => {
      const parameters = { client_id: 'one', redirect_uri: undefined, scope: 'api1', ...challenged }
      const { code, page } = await authorize(parameters)
      return [code !== undefined, page.url.origin + page.url.pathname]
    },
    expected: [true, 'https://one.example.com/callback'],
  },
  {
    client: 'a scanner of links in mails, which sends HEAD',
    gets: 'no code, and uses nothing up',
    run: async () => {
      const { events } = await authorize({}, { method: 'HEAD' })
      return events.filter(({ type }) => type === 'code_issued').length
    },
    expected: 0,
  },
  ...[
    ['Claude Code, which listens on any port of localhost', 'claude-code', 'http://localhost:52413/callback'],
    ['Cursor, with its own scheme', 'cursor', 'cursor://anysphere.cursor-mcp/oauth/callback'],
    ['Nextcloud for Android, whose scheme has two letters', 'nextcloud', 'oc://android.example.com'],
  ].map(([client = '', client_id, redirect_uri]) => ({
    client,
    gets: 'a code',
    run: () => getsCode({ client_id, redirect_uri, ...challenged }),
    expected: true,
  })),
]
