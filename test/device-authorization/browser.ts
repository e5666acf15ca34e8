import type { Provider } from '@grantry/core'
import { type DevicePage, deviceAuthorization } from '@grantry/plugins/device-authorization'
import { refreshToken } from '@grantry/plugins/refresh-token'
import type { TestProviderOptions } from '@grantry/testing'
import { address, setUp } from './parties.ts'

export const pageUri = 'https://id.example.com/connect/device'

/** The user of the session cookie, which the host's login page has set. */
export const signIn: DevicePage['signIn'] = (request) => {
  const sub = /(?:^|; )session=(\w+)/u.exec(request.header('cookie') ?? '')?.[1]
  return sub === undefined ? undefined : { sub, amr: ['pwd'] }
}

/** A provider that serves the page, and a device of the client `tv`. */
export const setUpPage = (page: Partial<DevicePage> = {}, more: Partial<TestProviderOptions> = {}) =>
  setUp({ plugins: [deviceAuthorization({ page: { signIn, ...page } }), refreshToken()], ...more })

export interface Page {
  readonly status: number
  readonly headers: Headers
  readonly html: string
  /** The form token, if the page asks for a decision. */
  readonly token: string
}

/** A browser with its own cookies, in which `sub` is signed in. */
export function createBrowser({ fetch }: Pick<Provider, 'fetch'>, sub?: string, from: string | undefined = address) {
  const jar = new Map(sub === undefined ? [] : [['session', sub]])

  async function send(url: string, form?: Readonly<Record<string, string>>): Promise<Page> {
    const request = new Request(url, {
      headers: { cookie: [...jar].map((pair) => pair.join('=')).join('; ') },
      ...(form !== undefined && { method: 'POST', body: new URLSearchParams(form) }),
    })
    const response = await fetch(request, { clientAddress: from })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/u.exec(cookie) ?? []
      jar.set(name, value)
    }
    const html = await response.text()
    const token = /name="form_token" value="([^"]+)"/u.exec(html)?.[1] ?? ''
    return { status: response.status, headers: response.headers, html, token }
  }

  return {
    jar,
    open: (query: Readonly<Record<string, string>> = {}) => send(`${pageUri}?${new URLSearchParams(query)}`),
    submit: (form: Readonly<Record<string, string>>) => send(pageUri, form),
  }
}
