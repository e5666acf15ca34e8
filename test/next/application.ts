import { createPages } from '@grantry/pages'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { backChannelLogout } from '@grantry/plugins/back-channel-logout'
import { endSession } from '@grantry/plugins/end-session'
import { proofKey } from '@grantry/plugins/proof-key'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { createTestProvider, sha256Of } from '@grantry/testing'
import { vi } from 'vitest'
import { type SessionStore, type SignInClientOptions, signInClient } from '../../packages/next/src/client.ts'
import { createBrowser, hiddenFields } from '../authorization/browser.ts'
import { ownPages } from '../authorization/own-pages.ts'

export const origin = 'https://app.example.com'
export const url = `${origin}/auth`
export const secret = 's'.repeat(32)

/** A store, and what it contains. */
export function memorySessions() {
  const items = new Map<string, string>()
  const sessions: SessionStore = {
    get: async (key) => items.get(key),
    set: async (key, value) => void items.set(key, value),
    delete: async (key) => void items.delete(key),
  }
  return { items, sessions }
}

type Fields = Readonly<Record<string, string>>

/** A browser of an application: its cookies, and what it opens there. */
export function createVisitor(client: ReturnType<typeof signInClient>) {
  const jar = new Map<string, string>()
  const cookieHeader = () => [...jar].map((pair) => pair.join('=')).join('; ')

  async function send(method: 'GET' | 'POST', action: string, init: { headers?: Fields; body?: URLSearchParams } = {}) {
    // Next.js replaces the host.
    const target = `http://localhost:3000/auth/${action}`
    const headers = { cookie: cookieHeader(), ...init.headers }
    const response = await client[method](new Request(target, { method, ...init, headers }))
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/u.exec(line) ?? []
      if (line.includes('Max-Age=0')) jar.delete(name)
      else jar.set(name, value)
    }
    return { status: response.status, location: response.headers.get('location') ?? '', response }
  }

  /** The cookies, as `cookies()` of Next.js has them in a route handler. */
  const cookies = {
    get(name: string) {
      const value = jar.get(name)
      return value === undefined ? undefined : { value }
    },
    set(name: string, value: string, { maxAge }: { readonly maxAge: number }) {
      if (maxAge === 0) jar.delete(name)
      else jar.set(name, value)
    },
  }
  return {
    jar,
    cookies,
    begin: (returnTo?: string) =>
      send('GET', `login${returnTo === undefined ? '' : `?${new URLSearchParams({ returnTo })}`}`),
    callback: (query: string) => send('GET', `callback${query}`),
    logout: (headers: Fields = { origin }) => send('POST', 'logout', { headers, body: new URLSearchParams() }),
    session: () => client.session(cookies),
    accessToken: () => client.accessToken(cookies),
  }
}

export type Visitor = ReturnType<typeof createVisitor>

/** A provider, an application whose users it signs in, and a browser at both. */
export async function setUpApplication(more: Partial<SignInClientOptions> = {}) {
  const requests: { readonly path: string; readonly form: URLSearchParams }[] = []
  const logoutTokens: string[] = []
  let wait = async (): Promise<void> => {}
  let deliver = async (_token: string): Promise<Response> => new Response()
  const f = await createTestProvider({
    issuer: 'https://id.example.com',
    plugins: [
      authorizationCode(),
      proofKey(),
      refreshToken(),
      authorizationEndpoint({
        interaction: ownPages,
        features: [
          endSession({ pages: createPages({ name: 'Example' }) }),
          backChannelLogout({
            async fetch(_target, init) {
              const token = new URLSearchParams(String(init.body)).get('logout_token') ?? ''
              logoutTokens.push(token)
              return deliver(token)
            },
          }),
        ],
      }),
    ],
    clients: [
      {
        clientId: 'app',
        secrets: [{ sha256: sha256Of('app-secret') }],
        grantTypes: ['authorization_code', 'refresh_token'],
        scopes: ['openid', 'offline_access', 'api1'],
        redirectUris: [`${url}/callback`],
        postLogoutRedirectUris: [`${origin}/`],
        backchannelLogoutUri: `${url}/backchannel`,
        requireConsent: false,
      },
    ],
  })
  vi.setSystemTime(f.clock.now() * 1000)
  const options: SignInClientOptions = {
    ...{ issuer: f.provider.issuer, clientId: 'app', clientSecret: 'app-secret', url, secrets: [secret] },
    scopes: ['openid', 'offline_access', 'api1'],
    async fetch(target, init) {
      const path = new URL(target).pathname
      requests.push({ path, form: new URLSearchParams(init.body === undefined ? '' : String(init.body)) })
      await wait()
      return f.provider.fetch(new Request(target, init))
    },
    ...more,
  }
  const client = signInClient(options)
  const send = (token: string) =>
    client.POST(
      new Request(`${url}/backchannel`, { method: 'POST', body: new URLSearchParams({ logout_token: token }) }),
    )
  deliver = send
  const atProvider = createBrowser(f.provider)

  /** Signs alice in at the provider, unless she is signed in there. Returns the query of its response. */
  async function approve(location: string, browser = atProvider): Promise<string> {
    const page = await browser.open(location)
    if (!page.html.includes('sign-in')) return page.url.search
    const form = { ...hiddenFields(page), username: 'alice' }
    return (await browser.submit(`${f.provider.issuer}/test/sign-in`, form)).url.search
  }

  return {
    ...f,
    client,
    options,
    requests,
    logoutTokens,
    send,
    atProvider,
    newBrowser: () => createBrowser(f.provider),
    refreshes: () => requests.filter(({ form }) => form.get('grant_type') === 'refresh_token').length,
    /** Makes each request to the provider wait. */
    waitWith(next: () => Promise<void>) {
      wait = next
    },
    advance(seconds: number) {
      f.clock.advance(seconds)
      vi.setSystemTime(f.clock.now() * 1000)
    },
    visitor: (of = client) => createVisitor(of),
    approve,
    async signIn(visitor: Visitor = createVisitor(client), browser = atProvider) {
      const end = await visitor.callback(await approve((await visitor.begin('/start')).location, browser))
      return { visitor, end }
    },
  }
}
